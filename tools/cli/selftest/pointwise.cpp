// Elementwise functions over the ranges of the table, and their derivatives. Each row runs in its own kernels.
#include <cmath>
#include <string_view>

#include "cli/selftest/check.h"
#include "crisol/autograd.h"
#include "reference/elementwise.h"
#include "reference/pointwise_calls.h"

namespace crisol::cli::selftest {

namespace {

using reference::Elementwise;
using reference::PointwiseCalls;

constexpr std::int64_t count = 1003;  // Several whole vectors and a remainder.
// OpenCL allows pow and erf an error of 16 ulp. The longest rows combine two such values.
constexpr reference::Tolerance rounding{32};

using Columns = std::vector<std::vector<double>>;

/// The dtype rule of a row; see lib/ops/pointwise/pointwise_row.h.
bool gives_bool(std::string_view rule) { return rule == "comparison" || rule == "test" || rule == "logical"; }
bool is_condition(std::string_view rule, std::size_t input) {
  return (rule == "choice" && input == 0) || (rule == "fill" && input == 1);
}

std::vector<double> at(const Columns& inputs, std::size_t i) {
  std::vector<double> values;
  for (const auto& input : inputs) values.push_back(input[i]);
  return values;
}

void check_row(const Elementwise& row, const PointwiseCalls& calls, Check& check) {
  std::vector<double> numbers = row.scalars;
  for (double& number : numbers) number = static_cast<float>(number);  // A kernel gets the numbers as floats.
  Columns inputs;
  std::vector<Tensor> leaves;
  for (std::size_t k = 0; k < calls.inputs; ++k) {
    const bool condition = is_condition(calls.rule, k);
    inputs.push_back(condition ? reference::random_integers(70 + k, count, 0, 1)
                               : reference::random_values(7 + k, count, row.low, row.high));
    if (std::string_view(calls.rule) == "test") inputs[k][1] = NAN, inputs[k][2] = INFINITY, inputs[k][3] = -INFINITY;
    leaves.push_back(tensor_of(inputs[k], {count}, condition ? DType::boolean : DType::f32));
    if (!condition && !gives_bool(calls.rule)) leaves[k].requires_grad_();
  }
  std::vector<double> expected;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    expected.push_back(row.forward(at(inputs, i).data(), numbers.data()));
  const Tensor y = calls.differentiable(leaves, numbers);
  if (y.dtype() == DType::boolean)
    check.equal(y, {count}, expected);
  else if (row.ulp > 0)
    check.ulp(y.detach(), {count}, expected, row.ulp);
  else
    check.close(y.detach(), {count}, expected, rounding);
  if (gives_bool(calls.rule)) return;

  const std::vector<double> dy = reference::random_values(99, count);
  y.backward(tensor_of(dy, {count}));
  for (std::size_t k = 0; k < calls.inputs; ++k) {
    if (!leaves[k].requires_grad()) continue;
    std::vector<double> gradient;
    for (std::size_t i = 0; i < dy.size(); ++i)
      gradient.push_back(row.derivatives[k](dy[i], at(inputs, i).data(), expected[i], numbers.data()));
    check.close(leaves[k].grad(), {count}, gradient, rounding);
  }
}

}  // namespace

std::vector<Op> pointwise() {
  std::vector<Op> ops;
  const auto& all = reference::pointwise_calls();
  for (std::size_t i = 0; i < all.size(); ++i)
    ops.push_back(
        {all[i].name, [i, &all](Check& check) { check_row(reference::elementwise_rows()[i], all[i], check); }});
  return ops;
}

}  // namespace crisol::cli::selftest
