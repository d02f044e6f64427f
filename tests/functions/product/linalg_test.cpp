// solve, inv, slogdet and cholesky.
#include "crisol/functions/linalg.h"

#include <cmath>

#include "crisol/functions/arrange.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/triangle.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

namespace {

using Inputs = std::vector<Tensor>;
using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;
using Numbers = std::vector<double>;

Tensor some(std::uint64_t seed, const Shape& shape) { return tensor_of(random_values(seed, shape.numel()), shape); }

/// (…, n, n) without small pivots, and rows in an order that needs an exchange.
Tensor regular(std::uint64_t seed, const Shape& shape) { return flip(some(seed, shape) + 3 * eye(shape.back()), {-1}); }

Tensor positive(const Tensor& x) { return matmul(x, matrix_transpose(x)) + eye(x.size(-1)); }

/// By elimination in double with the largest pivot of a column.
double determinant(Numbers a, std::size_t n) {
  double product = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    if (best != k) product = -product;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[best * n + j]);
    product *= a[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i)
      for (std::size_t j = n; j-- > k;) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return product;
}

}  // namespace

TEST_CASE("solve and inv: sizes, leading axes, vectors") {
  for (const std::int64_t n : {1, 2, 3, 7, 20}) {
    CAPTURE(n);
    const Tensor a = regular(1, {n, n}), b = some(2, {n, 3});
    const Tensor x = solve(a, b);
    CHECK(x.shape() == Shape{n, 3});
    check_close(matmul(a, x), values_of(b), {200});
    check_close(matmul(a, inv(a)), values_of(eye(n)), {200});
    const Tensor line = solve(a, b.select(1, 0));
    check_close(line, {n}, values_of(x.select(1, 0)), {50});
  }
  const Tensor a = regular(3, {2, 1, 4, 4}), b = some(4, {3, 4, 2}), x = solve(a, b);
  CHECK(x.shape() == Shape{2, 3, 4, 2});
  check_close(matmul(a, x).select(0, 1), values_of(b), {200});
  CHECK(solve(zeros({0, 3, 3}), zeros({0, 3, 2})).shape() == Shape{0, 3, 2});
  CHECK(solve(zeros({0, 0}), zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(inv(zeros({2, 0, 0})).shape() == Shape{2, 0, 0});
  const Tensor half = solve(a.to(DType::f16), b.to(DType::f16));
  CHECK(half.dtype() == DType::f16);
  check_close(half, values_of(x), {20000});
  CHECK(!std::isfinite(inv(ones({2, 2})).to_vector<float>()[0]));
}

TEST_CASE("slogdet: signs, logarithms, singular matrices, no overflow") {
  const Tensor x = regular(5, {3, 5, 5});
  const Numbers values = values_of(x);
  const SlogdetResult found = slogdet(x);
  Numbers signs, logs;
  for (std::size_t k = 0; k < 3; ++k) {
    const double d = determinant(Numbers(values.begin() + 25 * k, values.begin() + 25 * (k + 1)), 5);
    signs.push_back(d < 0 ? -1 : 1);
    logs.push_back(std::log(std::abs(d)));
  }
  check_close(found.sign, {3}, signs, {0});
  check_close(found.logabsdet, {3}, logs, {50});
  const SlogdetResult singular = slogdet(ones({2, 2}));
  CHECK(singular.sign.item() == 0);
  CHECK(singular.logabsdet.item() == -std::numeric_limits<float>::infinity());
  const SlogdetResult large = slogdet(eye(4) * -1e20);
  CHECK(large.sign.item() == 1);
  check_close(large.logabsdet, {}, {4 * 20 * std::log(10)}, {50});
  CHECK(slogdet(zeros({2, 0, 0})).sign.to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("cholesky: the factor, its transpose, only the lower triangle is read") {
  for (const std::int64_t n : {1, 2, 6, 17}) {
    CAPTURE(n);
    const Tensor x = positive(some(6, {2, n, n}));
    const Tensor l = cholesky(x);
    check_close(matmul(l, matrix_transpose(l)), values_of(x), {200});
    check_close(l, values_of(tril(l)), {0});
    check_close(cholesky(x, true), values_of(matrix_transpose(l)), {0});
    check_close(cholesky(tril(x)), values_of(l), {0});
  }
  CHECK(std::isnan(cholesky(-eye(2)).to_vector<float>()[0]));
  CHECK(cholesky(zeros({3, 0, 0})).shape() == Shape{3, 0, 0});
}

TEST_CASE("solve, inv, slogdet and cholesky: gradients and gradients of gradients") {
  const Tensor a = regular(7, {2, 3, 3}), b = some(8, {3, 2}), x = some(9, {3, 3});
  const auto solved = [](const Inputs& in) { return solve(in[0], in[1]); };
  check_gradients(solved, {a, b});
  testing::check_gradients_of_gradients(solved, {a, b});
  check_gradients([](const Inputs& in) { return solve(in[0], in[1]); }, {a, some(10, {3})});
  check_gradients([](const Inputs& in) { return inv(in[0]); }, {a});
  check_gradients([](const Inputs& in) { return slogdet(in[0]).logabsdet; }, {a});
  check_gradients([](const Inputs& in) { return cholesky(positive(in[0])); }, {x});
  check_gradients([](const Inputs& in) { return cholesky(positive(in[0]), true); }, {x});
}

TEST_CASE("solve, inv, slogdet and cholesky: refusals") {
  const Tensor a = eye(3);
  check_error([&] { solve(ones({3, 2}), a); }, {"[solve]", "(3, 2)"});
  check_error([&] { solve(a, ones({2, 1})); }, {"[solve]", "(2, 1)", "(3)"});
  check_error([&] { solve(a, ones({3}, DType::f16)); }, {"[solve]", "f16", "f32"});
  check_error([&] { solve(eye(3, {}, DType::i32), a); }, {"[solve]", "i32"});
  check_error([&] { inv(ones({3})); }, {"[inv]", "(3)"});
  check_error([&] { slogdet(Tensor()); }, {"[slogdet]", "undefined"});
  check_error([&] { cholesky(ones({2, 3})); }, {"[cholesky]", "(2, 3)"});
}

}  // namespace crisol
