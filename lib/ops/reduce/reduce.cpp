// The table of reductions, and the functions that use it.
#include "crisol/ops/reduce.h"

#include <cmath>

#include "base/text.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/reduce/reduce_tensor.h"

namespace crisol::ops {

namespace {

using enum ReduceTypes;

constexpr const char* truth_of_x = "(x != (T)(0)) ? (T)(1) : (T)(0)";
constexpr const char* truth_of_a = "(a > (T)(0)) ? (T)(1) : (T)(0)";
constexpr const char* mean_square = "a / (T)(fmax(count - parameter, 0.0f))";

// Sums and means of floats use the same program.
const ReduceRule sum_row{"sum", Combine::sum, total};
const ReduceRule float_sum_row{"sum", Combine::sum, floating, "x", "a / parameter"};
const ReduceRule mean_row{"mean", Combine::sum, floating, "x", "a / parameter"};
const ReduceRule prod_row{"prod", Combine::prod, total};
const ReduceRule max_row{"max", Combine::max, element, "x", "a", true};
const ReduceRule min_row{"min", Combine::min, element, "x", "a", true};
const ReduceRule argmax_row{"argmax", Combine::arg_max, element, "x", "a", true};
const ReduceRule argmin_row{"argmin", Combine::arg_min, element, "x", "a", true};
const ReduceRule any_row{"any", Combine::max, truth, truth_of_x, truth_of_a};
const ReduceRule all_row{"all", Combine::min, truth, truth_of_x, truth_of_a};
const ReduceRule var_row{"var", Combine::moments, floating, "x", mean_square};
const ReduceRule stddev_row{"stddev", Combine::moments, floating, "x", "sqrt(a / (T)(fmax(count - parameter, 0.0f)))"};
const ReduceRule logsumexp_row{"logsumexp", Combine::log_sum_exp, floating};

const ReduceRule norm_0_row{"norm", Combine::sum, floating, truth_of_x};
const ReduceRule norm_1_row{"norm", Combine::sum, floating, "fabs(x)"};
const ReduceRule norm_2_row{"norm", Combine::sum, floating, "x * x", "sqrt(a)"};
const ReduceRule norm_p_row{"norm", Combine::sum, floating, "pow(fabs(x), (T)(parameter))",
                            "pow(a, (T)(1.0f / parameter))"};
const ReduceRule norm_inf_row{"norm", Combine::max, floating, "fabs(x)", "a", true};
const ReduceRule norm_minus_inf_row{"norm", Combine::min, floating, "fabs(x)", "a", true};

const ReduceRule& norm_row(double p) {
  require(!std::isnan(p), "norm", "p is NaN");
  if (std::isinf(p)) return p > 0 ? norm_inf_row : norm_minus_inf_row;
  return p == 0 ? norm_0_row : p == 1 ? norm_1_row : p == 2 ? norm_2_row : norm_p_row;
}

}  // namespace

const ReduceRule& sum_reduction(DType type) { return is_floating(type) ? float_sum_row : sum_row; }

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce(x.defined() ? sum_reduction(x.dtype()) : sum_row, x, axes, keepdim, 1).values;
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) {
  require(x.defined(), "mean", "the tensor is undefined");
  const std::int64_t count = reduced_count(x.shape(), reduced_axes("mean", x.dim(), axes));
  return reduce(mean_row, x, axes, keepdim, static_cast<double>(count)).values;
}

Tensor prod(const Tensor& x, const Shape& axes, bool keepdim) { return reduce(prod_row, x, axes, keepdim).values; }

Tensor max(const Tensor& x, const Shape& axes, bool keepdim) { return reduce(max_row, x, axes, keepdim).values; }

Tensor min(const Tensor& x, const Shape& axes, bool keepdim) { return reduce(min_row, x, axes, keepdim).values; }

Tensor argmax(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce(argmax_row, x, axes, keepdim).positions;
}

Tensor argmin(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce(argmin_row, x, axes, keepdim).positions;
}

ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim) {
  const ReduceResult result = reduce(argmax_row, x, {axis}, keepdim);
  return {result.values, result.positions};
}

ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim) {
  const ReduceResult result = reduce(argmin_row, x, {axis}, keepdim);
  return {result.values, result.positions};
}

Tensor any(const Tensor& x, const Shape& axes, bool keepdim) { return reduce(any_row, x, axes, keepdim).values; }

Tensor all(const Tensor& x, const Shape& axes, bool keepdim) { return reduce(all_row, x, axes, keepdim).values; }

Tensor var(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return reduce(var_row, x, axes, keepdim, correction).values;
}

Tensor stddev(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return reduce(stddev_row, x, axes, keepdim, correction).values;
}

Tensor norm(const Tensor& x, double p, const Shape& axes, bool keepdim) {
  return reduce(norm_row(p), x, axes, keepdim, p).values;
}

Tensor logsumexp(const Tensor& x, const Shape& axes, bool keepdim) {
  return reduce(logsumexp_row, x, axes, keepdim).values;
}

}  // namespace crisol::ops
