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
constexpr const char* mean_square = "a / (T)(fmax(count - parameter, (real)(0)))";

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
const ReduceRule stddev_row{"stddev", Combine::moments, floating, "x",
                            "sqrt(a / (T)(fmax(count - parameter, (real)(0))))"};
const ReduceRule logsumexp_row{"logsumexp", Combine::log_sum_exp, floating};

const ReduceRule norm_0_row{"norm", Combine::sum, floating, truth_of_x};
const ReduceRule norm_1_row{"norm", Combine::sum, floating, "fabs(x)"};
const ReduceRule norm_2_row{"norm", Combine::sum, floating, "x * x", "sqrt(a)"};
const ReduceRule norm_p_row{"norm", Combine::sum, floating, "POW(fabs(x), (T)(parameter))",
                            "POW(a, (T)((real)(1) / parameter))"};
const ReduceRule norm_inf_row{"norm", Combine::max, floating, "fabs(x)", "a", true};
const ReduceRule norm_minus_inf_row{"norm", Combine::min, floating, "fabs(x)", "a", true};

const ReduceRule& norm_row(double p) {
  require(!std::isnan(p), "norm", "p is NaN");
  if (std::isinf(p)) return p > 0 ? norm_inf_row : norm_minus_inf_row;
  return p == 0 ? norm_0_row : p == 1 ? norm_1_row : p == 2 ? norm_2_row : norm_p_row;
}

}  // namespace

const ReduceRule& sum_reduction(DType type) { return is_floating(type) ? float_sum_row : sum_row; }

#define REDUCTION(name, row, result)                                                                             \
  Tensor name(const Tensor& x, const Shape& axes, bool keepdim) { return reduce(row, x, axes, keepdim).result; } \
  void name##_into(const Tensor& y, const Tensor& x, const Shape& axes, bool keepdim) {                          \
    reduce(row, x, axes, keepdim, 0, {.result = &y});                                                            \
  }
REDUCTION(prod, prod_row, values)
REDUCTION(max, max_row, values)
REDUCTION(min, min_row, values)
REDUCTION(argmax, argmax_row, positions)
REDUCTION(argmin, argmin_row, positions)
REDUCTION(any, any_row, values)
REDUCTION(all, all_row, values)
REDUCTION(logsumexp, logsumexp_row, values)

namespace {

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim, const Tensor* into) {
  return reduce(x.defined() ? sum_reduction(x.dtype()) : sum_row, x, axes, keepdim, 1, {.values = into}).values;
}

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim, const Tensor* into) {
  require(x.defined(), "mean", "the tensor is undefined");
  const std::int64_t count = reduced_count(x.shape(), reduced_axes("mean", x.dim(), axes));
  return reduce(mean_row, x, axes, keepdim, static_cast<double>(count), {.values = into}).values;
}

ExtremeResult with_indices(const ReduceRule& row, const Tensor& x, int axis, bool keepdim,
                           const ReduceInto& into = {}) {
  const ReduceResult result = reduce(row, x, {axis}, keepdim, 0, into);
  return {result.values, result.positions};
}

}  // namespace

Tensor sum(const Tensor& x, const Shape& axes, bool keepdim) { return sum(x, axes, keepdim, nullptr); }
void sum_into(const Tensor& y, const Tensor& x, const Shape& axes, bool keepdim) { sum(x, axes, keepdim, &y); }

Tensor mean(const Tensor& x, const Shape& axes, bool keepdim) { return mean(x, axes, keepdim, nullptr); }
void mean_into(const Tensor& y, const Tensor& x, const Shape& axes, bool keepdim) { mean(x, axes, keepdim, &y); }

ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim) {
  return with_indices(argmax_row, x, axis, keepdim);
}
void max_with_indices_into(const Tensor& values, const Tensor& indices, const Tensor& x, int axis, bool keepdim) {
  with_indices(argmax_row, x, axis, keepdim, {&values, &indices});
}

ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim) {
  return with_indices(argmin_row, x, axis, keepdim);
}
void min_with_indices_into(const Tensor& values, const Tensor& indices, const Tensor& x, int axis, bool keepdim) {
  with_indices(argmin_row, x, axis, keepdim, {&values, &indices});
}

Tensor var(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return reduce(var_row, x, axes, keepdim, correction).values;
}
void var_into(const Tensor& y, const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  reduce(var_row, x, axes, keepdim, correction, {.values = &y});
}

Tensor stddev(const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  return reduce(stddev_row, x, axes, keepdim, correction).values;
}
void stddev_into(const Tensor& y, const Tensor& x, const Shape& axes, bool keepdim, double correction) {
  reduce(stddev_row, x, axes, keepdim, correction, {.values = &y});
}

Tensor norm(const Tensor& x, double p, const Shape& axes, bool keepdim) {
  return reduce(norm_row(p), x, axes, keepdim, p).values;
}
void norm_into(const Tensor& y, const Tensor& x, double p, const Shape& axes, bool keepdim) {
  reduce(norm_row(p), x, axes, keepdim, p, {.values = &y});
}

}  // namespace crisol::ops
