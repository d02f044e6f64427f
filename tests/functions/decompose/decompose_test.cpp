// Gradients of qr, eigh and svd, and the functions that are made of them.
#include <cmath>
#include <limits>

#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/linalg.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "reference/decompose.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

namespace {

using Inputs = std::vector<Tensor>;
using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::check_gradients_of_gradients;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor some(std::uint64_t seed, const Shape& shape) { return tensor_of(random_values(seed, shape.numel()), shape); }

/// (…, m, n) with singular values that lie apart from each other and from 0.
Tensor apart(std::uint64_t seed, std::int64_t m, std::int64_t n) {
  return eye(m, n) * arange(1, static_cast<double>(n + 1)) + some(seed, {m, n}) * 0.2;
}

}  // namespace

TEST_CASE("qr: gradients of square, tall, wide and complete forms") {
  const auto both = [](bool complete) {
    return [complete](const Inputs& in) {
      const QrResult y = qr(in[0], complete);
      return sum(y.q * some(3, y.q.shape())) + sum(y.r * some(4, y.r.shape()));
    };
  };
  for (const auto& [m, n] : {std::pair{3, 3}, {5, 3}, {3, 5}}) {
    CAPTURE(m);
    CAPTURE(n);
    check_gradients(both(false), {apart(1, m, n)});
    check_gradients([](const Inputs& in) { return qr(in[0]).r; }, {apart(1, m, n)});
    check_gradients([](const Inputs& in) { return qr(in[0]).q; }, {apart(1, m, n)});
  }
  check_gradients(both(true), {apart(2, 3, 4)});
  check_gradients([&](const Inputs& in) { return qr(in[0]).r; }, {stack({apart(5, 4, 2), apart(6, 4, 2)})});
  check_gradients_of_gradients([](const Inputs& in) { return qr(in[0]).q; }, {apart(7, 3, 3)});
  Tensor tall = apart(8, 4, 2);
  tall.requires_grad_();
  check_error([&] { sum(qr(tall, true).r).backward(); }, {"[qr]", "complete", "(4, 2)"});
}

TEST_CASE("eigh: gradients of values and vectors") {
  const auto symmetric = [](const Tensor& x) { return x + matrix_transpose(x); };
  const Tensor x = apart(9, 4, 4);
  check_gradients([&](const Inputs& in) { return eigvalsh(symmetric(in[0])); }, {x});
  // Squares do not depend on the signs of the vectors.
  check_gradients(
      [&](const Inputs& in) {
        const Tensor v = eigh(symmetric(in[0])).eigenvectors;
        return v * v;
      },
      {x});
  check_gradients_of_gradients([&](const Inputs& in) { return eigvalsh(symmetric(in[0])); }, {x});
  Tensor equal = eye(3);
  equal.requires_grad_();
  sum(eigvalsh(equal)).backward();
  check_close(equal.grad(), values_of(eye(3)), {4});
}

TEST_CASE("svd: gradients of values and vectors") {
  for (const auto& [m, n] : {std::pair{3, 3}, {5, 3}, {3, 5}}) {
    CAPTURE(m);
    CAPTURE(n);
    const Tensor x = m >= n ? apart(10, m, n) : matrix_transpose(apart(10, n, m)).clone();
    check_gradients([](const Inputs& in) { return svdvals(in[0]); }, {x});
    check_gradients(
        [](const Inputs& in) {
          const SvdResult y = svd(in[0], false);
          return y.u * y.u;
        },
        {x});
    check_gradients(
        [](const Inputs& in) {
          const SvdResult y = svd(in[0], false);
          return matmul(y.u * sqrt(y.s).unsqueeze(-2), y.vh);
        },
        {x});
  }
  // The full form, for the part that is determined.
  check_gradients(
      [](const Inputs& in) {
        const SvdResult y = svd(in[0]);
        return matmul(y.u.narrow(-1, 0, 2) * exp(y.s).unsqueeze(-2), y.vh);
      },
      {apart(11, 4, 2)});
  check_gradients_of_gradients([](const Inputs& in) { return svdvals(in[0]); }, {apart(12, 3, 2)});
}

TEST_CASE("pinv and matrix_rank: shapes, tolerance, gradient") {
  for (const Shape& shape : {Shape{4, 4}, Shape{5, 3}, Shape{3, 5}, Shape{2, 4, 3}}) {
    CAPTURE(shape);
    const Tensor x = some(13, shape), p = pinv(x);
    check_close(matmul(matmul(x, p), x), values_of(x), {300});
    check_close(matmul(matmul(p, x), p), values_of(p), {300});
    check_close(matmul(x, p), values_of(matrix_transpose(matmul(x, p))), {300});
  }
  const Tensor steps = tensor_of({4, 0, 0, 0, 1e-3, 0, 0, 0, 0}, {3, 3});
  check_close(pinv(steps), {0.25, 0, 0, 0, 1000, 0, 0, 0, 0}, {8});
  check_close(pinv(steps, 1e-2), {0.25, 0, 0, 0, 0, 0, 0, 0, 0}, {8});
  CHECK(matrix_rank(steps).item<std::int64_t>() == 2);
  CHECK(matrix_rank(steps, 1e-2).item<std::int64_t>() == 1);
  const Tensor two = stack({steps, eye(3)});
  CHECK(matrix_rank(two, tensor_of({1e-2, 1e-2}, {2})).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 3});
  CHECK(matrix_rank(zeros({2, 0, 3})).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0});
  CHECK(pinv(zeros({2, 0, 3})).shape() == Shape{2, 3, 0});
  CHECK(std::isnan(pinv(full({2, 2}, std::nan(""))).to_vector<float>()[0]));
  const auto of = [](const Inputs& in) { return pinv(in[0]); };
  check_gradients(of, {apart(14, 4, 2)});
  check_gradients(of, {matrix_transpose(apart(14, 4, 2)).clone()});
  check_gradients([](const Inputs& in) { return pinv(matmul(in[0], matrix_transpose(in[0]))); }, {apart(15, 3, 2)});
  check_error([&] { pinv(steps, ones({3}, DType::i64)); }, {"[pinv]", "i64"});
  check_error([] { matrix_rank(ones({3})); }, {"[matrix_rank]", "(3)"});
}

TEST_CASE("matrix_norm: every kind, keepdim, gradient") {
  const Tensor x = tensor_of({1, -2, 3, -4, 5, -6}, {2, 3});
  const std::vector<double> s = reference::singular_values({1, -2, 3, -4, 5, -6}, 2, 3);
  check_close(matrix_norm(x), {}, {std::sqrt(91)}, {4});
  check_close(matrix_norm(x, "nuc"), {}, {s[0] + s[1]}, {20});
  const std::pair<double, double> kinds[] = {{1, 9}, {-1, 5}, {2, s[0]}, {-2, s[1]}, {infinity, 15}, {-infinity, 6}};
  for (const auto& [ord, expected] : kinds) {
    CAPTURE(ord);
    check_close(matrix_norm(x, ord), {}, {expected}, {20, s[0]});
    check_close(matrix_norm(x.expand({2, 2, 3}), ord, true), {2, 1, 1}, {expected, expected}, {20, s[0]});
    check_gradients([ord = ord](const Inputs& in) { return matrix_norm(in[0], ord); }, {apart(16, 4, 3)});
  }
  CHECK(matrix_norm(x, "nuc", true).shape() == Shape{1, 1});
  check_gradients([](const Inputs& in) { return matrix_norm(in[0], "nuc"); }, {apart(17, 4, 3)});
  check_error([&] { matrix_norm(x, 3.0); }, {"[matrix_norm]", "3"});
  check_error([&] { matrix_norm(x, "max"); }, {"[matrix_norm]", "max"});
}

TEST_CASE("matrix_power: products, the unit matrix, inverses") {
  const Tensor x = some(18, {2, 3, 3});
  Tensor expected = eye(3).expand({2, 3, 3});
  for (std::int64_t n = 0; n < 8; ++n, expected = matmul(expected, x)) {
    CAPTURE(n);
    check_close(matrix_power(x, n), values_of(expected), {30});
  }
  check_close(matmul(matrix_power(apart(19, 3, 3), -2), matrix_power(apart(19, 3, 3), 2)), values_of(eye(3)), {300});
  check_gradients([](const Inputs& in) { return matrix_power(in[0], 3); }, {some(20, {3, 3})});
  check_error([] { matrix_power(ones({2, 3}), 2); }, {"[matrix_power]", "(2, 3)"});
}

}  // namespace crisol
