// The differentiable elementwise functions: every row's gradient through autograd, and expressions of several.
#include "crisol/functions/elementwise.h"

#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "reference/elementwise.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/pointwise_calls.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("functions: every elementwise row gives its reference's gradient") {
  constexpr std::int64_t count = 40;
  for (std::size_t r = 0; r < reference::elementwise_rows().size(); ++r) {
    const reference::Elementwise& row = reference::elementwise_rows()[r];
    const PointwiseCalls& calls = pointwise_calls()[r];
    CAPTURE(std::string(row.name));
    std::vector<double> scalars = row.scalars;
    for (double& value : scalars) value = static_cast<float>(value);
    std::vector<std::vector<double>> values;
    std::vector<Tensor> inputs;
    for (std::size_t k = 0; k < row.inputs; ++k) {
      values.push_back(random_values(30 + k, count, row.low, row.high));
      inputs.push_back(tensor_of(values[k], {count}).requires_grad_());
    }
    const std::vector<double> dy = random_values(40, count);
    calls.function(inputs, scalars).backward(tensor_of(dy, {count}));
    for (std::size_t k = 0; k < row.inputs; ++k) {
      std::vector<double> expected;
      for (std::size_t i = 0; i < count; ++i) {
        const double in[2] = {values[0][i], row.inputs == 2 ? values[1][i] : 0};
        expected.push_back(row.derivatives[k](dy[i], in, row.forward(in, scalars.data()), scalars.data()));
      }
      // OpenCL allows pow and erf 16 ulp; the longest rows join two such values.
      check_close(inputs[k].grad(), {count}, expected, {32});
    }
  }
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
