// The differentiable elementwise functions: the gradient of every row of the table, and expressions of several
// functions.
#include "crisol/functions/elementwise.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/functions/reduce.h"
#include "crisol/fuse.h"
#include "crisol/ops/elementwise.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/pointwise/pointwise_check.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("functions: every pointwise row, run by itself, gives its reference's values and gradients") {
  // Other test cases run all rows in a few programs.
  const std::string& platform = Device().info().platform;
  const std::size_t step = platform == "rusticl" ? 16 : platform == "Portable Computing Language" ? 4 : 1;
  if (step > 1) note_skip(std::to_string(step) + "th rows only: each is two programs or more, which compile slowly");
  for (std::size_t r = 0; r < table_rows().size(); r += step) check_row(table_rows()[r]);
}

TEST_CASE("functions: a row that is not in the table does all that those do") {
  constexpr auto derivative = [] {
    const ops::RowExpression dy("dy"), x("x"), scale("scale");
    return dy * scale / ((scale + abs(x)) * (scale + abs(x)));
  };
  static constexpr ops::PointwiseRow soft_sign{"soft_sign",
                                               ops::RowRule::floating,
                                               1,
                                               {"x"},
                                               1,
                                               {"scale"},
                                               "x / (scale + fabs(x))",
                                               nullptr,
                                               {ops::parts_of(derivative)},
                                               "x / (scale + |x|)"};
  static const reference::Elementwise soft_sign_reference{
      "soft_sign",
      {0.75},
      -4,
      4,
      4,
      [](const double* v, const double* s) { return v[0] / (s[0] + std::abs(v[0])); },
      {[](double dy, const double* v, double, const double* s) {
         return dy * s[0] / ((s[0] + std::abs(v[0])) * (s[0] + std::abs(v[0])));
       },
       nullptr, nullptr}};
  const RowUnderTest row{&soft_sign, &soft_sign_reference};
  check_reference(row);
  check_row(row);
}

TEST_CASE("functions: gradients of expressions with broadcasting and scalars") {
  const Tensor a = tensor_of(random_values(1, 24, 0.5, 1.5), {2, 3, 4}), b = tensor_of(random_values(2, 4), {4});
  const Tensor c = tensor_of(random_values(3, 3, 0.5, 1.5), {3, 1});
  check_gradients([](const std::vector<Tensor>& v) { return (v[0] * v[1] + 2) / (v[2] + 3) - tanh(v[0]); }, {a, b, c});
  check_gradients([](const std::vector<Tensor>& v) { return 1 / v[0] - 3 * v[1] + (2 - v[2]) * 0.5; }, {a, b, c});
  check_gradients([](const std::vector<Tensor>& v) { return -sigmoid(v[0] - v[2]) * exp(v[1]) / 2; }, {a, b, c});
  const Tensor condition = tensor_of({1, 0, 1, 1}, {4}, DType::boolean);
  check_gradients([&](const std::vector<Tensor>& v) { return where(condition, v[0] * v[0], v[1]); }, {a, b});
  // The same tensor twice.
  check_gradients([](const std::vector<Tensor>& v) { return v[0] * v[0] + v[0]; }, {a});
}

TEST_CASE("functions: comparisons and results without gradients are not recorded") {
  Tensor a = tensor_of({1, 2}, {2});
  CHECK_FALSE(relu(a).requires_grad());
  a.requires_grad_();
  CHECK(relu(a).requires_grad());
  CHECK_FALSE(gt(a, 1.5).requires_grad());
  check_close(gt(a, 1.5), {0, 1}, {0});
}

TEST_CASE("square of bool is i64, as PyTorch's x^2 is, also in a fused function") {
  const Tensor x = tensor_of({1, 0, 1}, {3}, DType::boolean);
  for (const Tensor& y : {square(x), fuse([](const Expr& a) { return square(a); })(x)}) {
    CHECK(y.dtype() == DType::i64);
    check_close(y, {1, 0, 1}, {0});
  }
}

TEST_CASE("pow: a number as the exponent, at both zeros, below 0, infinite and NaN") {
  // PyTorch's values. The power 0.5 is the square root, unless the exponent is a tensor.
  const double inf = INFINITY, nan = NAN;
  const std::vector<double> x{-0.0, 0, 4, -2, -inf, inf, nan};
  struct Row {
    double exponent;
    std::vector<double> value, gradient;
  };
  const Row rows[] = {
      {2, {0, 0, 16, 4, inf, inf, nan}, {-0.0, 0, 8, -4, -inf, inf, nan}},
      {1, {-0.0, 0, 4, -2, -inf, inf, nan}, {1, 1, 1, 1, 1, 1, 1}},
      {0.5, {-0.0, 0, 2, nan, nan, inf, nan}, {-inf, inf, 0.25, nan, nan, 0, nan}},
      {-1, {-inf, inf, 0.25, -0.5, -0.0, 0, nan}, {-inf, -inf, -0.0625, -0.25, -0.0, -0.0, nan}},
  };
  const auto check = [](const Tensor& found, const std::vector<double>& right) {
    const std::vector<double> values = values_of(found);
    for (std::size_t i = 0; i < right.size(); ++i) {
      CAPTURE(i);
      CHECK((std::isnan(right[i]) ? std::isnan(values[i]) : values[i] == right[i]));
      if (!std::isnan(right[i])) CHECK(std::signbit(values[i]) == std::signbit(right[i]));
    }
  };
  for (const auto& [exponent, value, gradient] : rows) {
    CAPTURE(exponent);
    const auto raised = fuse([&, by = exponent](const Expr& a) { return pow(a, by); });
    for (const auto& f : std::vector<std::function<Tensor(const Tensor&)>>{
             [&](const Tensor& t) { return pow(t, exponent); }, [&](const Tensor& t) { return t.pow(exponent); },
             [&](const Tensor& t) { return Tensor((t * 1).pow_(exponent)); }, raised}) {
      const Tensor t = tensor_of(x, {7}).requires_grad_();
      const Tensor y = f(t);
      check(y, value);
      check(grad({sum(y)}, {t})[0], gradient);
    }
    check(ops::pow(tensor_of(x, {7}), exponent), value);
    Tensor written = tensor_of(x, {7});
    written.pow_(exponent);
    check(written, value);
  }
  const Tensor t = tensor_of(x, {7}).requires_grad_();
  const Tensor y = pow(t, full({}, 0.5));
  check(y, {0, 0, 2, nan, inf, inf, nan});
  check(grad({sum(y)}, {t})[0], {inf, inf, 0.25, nan, 0, 0, nan});
}
