// qr, eigh, svd and svdvals: reconstruction, orthogonality, order, and values of a double Jacobi on the host.
#include "crisol/ops/decompose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/triangle.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "reference/decompose.h"
#include "support/compare.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::all_layouts;
using testing::check_close;
using testing::check_error;
using testing::Layout;
using testing::random_values;
using testing::slow_device;
using testing::tensor_of;
using testing::values_of;
using testing::view_of;
using Numbers = std::vector<double>;

constexpr float infinity = std::numeric_limits<float>::infinity();

// Twice the largest error that was seen. It was the error of the product of two vectors of a Q (100, 100).
constexpr double factor = 15;

Tensor transposed(const Tensor& x) { return ops::contiguous(ops::transpose(x, -1, -2)); }

/// The columns of q are orthonormal.
void check_orthonormal(const Tensor& q) {
  const std::int64_t n = q.size(-1);
  const Tensor product = ops::matmul(transposed(q), q);
  check_close(product, values_of(ops::expand(eye(n), product.shape())), {factor, 1});
}

Numbers matrix_of(const Tensor& x, std::int64_t number) {
  const Numbers all = values_of(x);
  const std::int64_t size = x.size(-1) * x.size(-2);
  return Numbers(all.begin() + number * size, all.begin() + (number + 1) * size);
}

double largest_of(const Tensor& x) {
  double largest = 0;
  for (const double v : values_of(x)) largest = std::max(largest, std::abs(v));
  return largest * std::sqrt(static_cast<double>(std::max(x.size(-1), x.size(-2))));
}

void check_qr(const Tensor& x, bool complete) {
  CAPTURE(x.shape());
  CAPTURE(complete);
  const QrResult found = ops::qr(x, complete);
  const std::int64_t m = x.size(-2), k = complete ? m : std::min(m, x.size(-1));
  CHECK(found.q.size(-1) == k);
  CHECK(found.r.size(-2) == k);
  check_orthonormal(found.q);
  check_close(found.r, values_of(ops::triu(found.r)), {0});
  check_close(ops::matmul(found.q, found.r), values_of(x), {factor, largest_of(x)});
}

void check_svd(const Tensor& x, bool full) {
  CAPTURE(x.shape());
  CAPTURE(full);
  const SvdResult found = ops::svd(x, full);
  const std::int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
  CHECK(found.u.shape().back() == (full ? m : k));
  CHECK(found.vh.size(-2) == (full ? n : k));
  check_orthonormal(found.u);
  check_orthonormal(transposed(found.vh));
  const Tensor u = ops::narrow(found.u, -1, 0, k), vh = ops::narrow(found.vh, -2, 0, k);
  check_close(ops::matmul(ops::mul(u, ops::unsqueeze(found.s, -2)), vh), values_of(x), {factor, largest_of(x)});
  const Numbers values = values_of(found.s), alone = values_of(ops::svdvals(x));
  for (std::int64_t i = 0; i < found.s.numel() / k; ++i) {
    const Numbers expected =
        reference::singular_values(matrix_of(x, i), static_cast<std::size_t>(m), static_cast<std::size_t>(n));
    const auto part = [&](const Numbers& all) { return Numbers(all.begin() + i * k, all.begin() + (i + 1) * k); };
    const Numbers sorted = part(values);
    CHECK(std::is_sorted(sorted.rbegin(), sorted.rend()));
    check_close(tensor_of(part(values), {k}), expected, {factor, largest_of(x)});
    check_close(tensor_of(part(alone), {k}), expected, {factor, largest_of(x)});
  }
}

void check_eigh(const Tensor& x) {
  CAPTURE(x.shape());
  const std::int64_t n = x.size(-1);
  const EighResult found = ops::eigh(x);
  check_orthonormal(found.eigenvectors);
  const Tensor lower = ops::tril(x), whole = ops::add(lower, transposed(ops::tril(x, -1)));
  const Tensor back =
      ops::matmul(ops::mul(found.eigenvectors, ops::unsqueeze(found.eigenvalues, -2)), transposed(found.eigenvectors));
  check_close(back, values_of(whole), {factor, largest_of(whole)});
  for (std::int64_t i = 0; i < x.numel() / (n * n); ++i) {
    const Numbers all = values_of(found.eigenvalues);
    check_close(tensor_of(Numbers(all.begin() + i * n, all.begin() + (i + 1) * n), {n}),
                reference::eigenvalues(matrix_of(x, i), static_cast<std::size_t>(n)), {factor, largest_of(whole)});
  }
}

/// A matrix of rank `rank`.
Tensor of_rank(std::uint64_t seed, std::int64_t m, std::int64_t n, std::int64_t rank) {
  return ops::matmul(tensor_of(random_values(seed, m * rank), {m, rank}),
                     tensor_of(random_values(seed + 1, rank * n), {rank, n}));
}

std::vector<Shape> shapes() {
  std::vector<Shape> all{{1, 1}, {2, 2}, {5, 3}, {3, 5}, {17, 4}, {1, 6}, {6, 1}, {2, 3, 7, 5}, {3, 4, 4}};
  if (!slow_device()) all.insert(all.end(), {Shape{33, 33}, Shape{70, 41}, Shape{100, 7}, Shape{7, 100}});
  return all;
}

}  // namespace

TEST_CASE("qr: reconstruction, orthogonality, LAPACK's signs") {
  for (const Shape& shape : shapes())
    for (const bool complete : {false, true}) check_qr(tensor_of(random_values(1, shape.numel()), shape), complete);
  const Numbers values = random_values(2, 15);
  for (const Layout layout : all_layouts) check_qr(view_of(values, {5, 3}, layout), false);
  check_qr(of_rank(3, 6, 6, 2), false);
  check_qr(zeros({4, 3}), true);
  const QrResult known = ops::qr(tensor_of({3, 0, 4, 5}, {2, 2}));
  check_close(known.r, {-5, -4, 0, 3}, {8});
  check_close(ops::qr(eye(3)).r, values_of(eye(3)), {0});
}

TEST_CASE("svd: reconstruction, orthogonality, values of the reference") {
  for (const Shape& shape : shapes())
    for (const bool full : {false, true}) check_svd(tensor_of(random_values(4, shape.numel()), shape), full);
  const Numbers values = random_values(5, 15);
  for (const Layout layout : all_layouts) check_svd(view_of(values, {3, 5}, layout), true);
}

TEST_CASE("svd: equal, missing and far apart singular values") {
  check_svd(of_rank(6, 7, 5, 2), true);
  check_svd(of_rank(7, 12, 3, 1), true);
  check_svd(zeros({3, 2}), true);
  check_svd(eye(5), false);
  check_svd(tensor_of({0, 1, 1, 0}, {2, 2}), false);
  check_svd(tensor_of({1e6, 2, 0, 1, 1e-3, 0, 0, 0, 1e-6}, {3, 3}), false);
}

TEST_CASE("eigh: reconstruction, orthogonality, values of the reference; only the lower triangle is read") {
  for (const Shape& shape : {Shape{1, 1}, Shape{2, 2}, Shape{5, 5}, Shape{2, 3, 4, 4}, Shape{17, 17}})
    check_eigh(tensor_of(random_values(8, shape.numel()), shape));
  if (!slow_device()) check_eigh(tensor_of(random_values(9, 64 * 64), {64, 64}));
  const Numbers values = random_values(10, 16);
  for (const Layout layout : all_layouts) check_eigh(view_of(values, {4, 4}, layout));
  check_eigh(tensor_of({0, std::nan(""), 1, 0}, {2, 2}));
}

TEST_CASE("eigh: equal eigenvalues, opposite signs, singular matrices") {
  check_eigh(eye(6));
  check_eigh(zeros({3, 3}));
  check_eigh(ones({7, 7}));
  check_eigh(tensor_of({0, 1, 1, 0}, {2, 2}));
  check_eigh(ops::mul(eye(4), -3));
  const Tensor x = of_rank(11, 9, 9, 3);
  check_eigh(ops::matmul(x, transposed(x)));
}

TEST_CASE("qr, svd and eigh: very large and very small elements") {
  const Tensor x = tensor_of(random_values(12, 20), {5, 4});
  for (const float power : {0x1p100f, 0x1p-100f}) {
    const Tensor scaled = ops::mul(x, power);
    check_close(ops::qr(scaled).r, values_of(ops::mul(ops::qr(x).r, power)), {0});
    check_close(ops::svdvals(scaled), values_of(ops::mul(ops::svdvals(x), power)), {0});
    const Tensor square = ops::narrow(scaled, 0, 0, 4);
    check_close(ops::eigh(square).eigenvalues,
                values_of(ops::mul(ops::eigh(ops::narrow(x, 0, 0, 4)).eigenvalues, power)), {0});
  }
}

TEST_CASE("qr, svd and eigh: NaN and infinity give NaN in their matrix alone") {
  for (const float bad : {std::nanf(""), infinity, -infinity}) {
    Numbers values = random_values(13, 18);
    values[3] = bad;
    const Tensor x = tensor_of(values, {2, 3, 3});
    const QrResult q = ops::qr(x);
    const EighResult e = ops::eigh(x);
    const SvdResult s = ops::svd(x);
    for (const Tensor& found : {q.q, q.r, e.eigenvalues, e.eigenvectors, s.u, s.s, s.vh, ops::svdvals(x)}) {
      const Numbers all = values_of(found);
      const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
      CHECK(std::any_of(all.begin(), half, [](double v) { return std::isnan(v); }));
      CHECK(std::all_of(half, all.end(), [](double v) { return std::isfinite(v); }));
    }
  }
}

TEST_CASE("qr, svd and eigh: no elements, half precision, refusals") {
  CHECK(ops::qr(zeros({2, 3, 0})).q.shape() == Shape{2, 3, 0});
  CHECK(ops::qr(zeros({0, 3}), true).r.shape() == Shape{0, 3});
  check_close(ops::qr(zeros({3, 0}), true).q, values_of(eye(3)), {0});
  CHECK(ops::svd(zeros({0, 3})).vh.shape() == Shape{3, 3});
  CHECK(ops::svd(zeros({4, 0, 3}), false).u.shape() == Shape{4, 0, 0});
  CHECK(ops::svd(zeros({0, 2, 3})).s.shape() == Shape{0, 2});
  CHECK(ops::svdvals(zeros({2, 3, 0})).shape() == Shape{2, 0});
  CHECK(ops::eigh(zeros({2, 0, 0})).eigenvalues.shape() == Shape{2, 0});
  CHECK(ops::eigh(zeros({0, 2, 2})).eigenvectors.shape() == Shape{0, 2, 2});

  const Tensor half = tensor_of(random_values(14, 16), {4, 4}, DType::f16);
  const SvdResult s = ops::svd(half);
  CHECK(s.u.dtype() == DType::f16);
  check_close(s.s, values_of(ops::svdvals(ops::cast(half, DType::f32))), {2});
  CHECK(ops::qr(half).r.dtype() == DType::f16);
  CHECK(ops::eigh(half).eigenvalues.dtype() == DType::f16);

  check_error([] { ops::qr(Tensor()); }, {"[qr]", "undefined"});
  check_error([] { ops::svd(zeros({3})); }, {"[svd]", "(3)"});
  check_error([] { ops::svdvals(zeros({3, 3}, DType::i32)); }, {"[svdvals]", "i32"});
  check_error([] { ops::eigh(zeros({3, 2})); }, {"[eigh]", "(3, 2)"});
}

}  // namespace crisol
