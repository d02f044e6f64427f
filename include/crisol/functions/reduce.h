// Differentiable reductions of tensors with any strides. Results of integers and bool have no gradient.
//
// `axes` are the reduced axes. Negative axes count from the end, and an empty list means all axes. One axis may be a
// plain number. The result lacks the reduced axes, or with keepdim has size 1 there. A scalar (rank 0) has the axes 0
// and -1. Elements are combined in a fixed order, so the same device always gives the same bits. f16 is computed in
// float, and the result is f16 again. Errors (invalid_argument): an undefined tensor, a dtype that the function does
// not take, an axis out of range or named twice.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol {

/// The sum; 0 for no elements. Integers and bool are added as i64.
CRISOL_API Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The mean of f32, f16 or f64; NaN for no elements, because 0 / 0 has no value.
CRISOL_API Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The product; 1 for no elements. Integers and bool are multiplied as i64.
CRISOL_API Tensor prod(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest element, or NaN if an element is NaN. Equal elements get equal parts of the gradient. Refuses to reduce
/// no elements.
CRISOL_API Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The smallest element, or NaN if an element is NaN. Equal elements get equal parts of the gradient. Refuses to reduce
/// no elements.
CRISOL_API Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest elements along one axis and their positions. The elements at these positions get the gradient.
CRISOL_API ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim = false);

/// The smallest elements along one axis and their positions. The elements at these positions get the gradient.
CRISOL_API ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim = false);

/// The variance of f32, f16 or f64: sum (x - mean)^2 / max(0, n - correction), where n is the number of elements.
/// Correction 0 gives the variance of the elements. Correction 1 estimates the variance of the distribution that they
/// were drawn from.
CRISOL_API Tensor var(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);

/// The square root of var. PyTorch calls it std, which is a namespace in C++. Its gradient is 0 if the result is 0.
CRISOL_API Tensor stddev(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);

/// The p-norm of f32, f16 or f64: (sum |x|^p)^(1/p). p = 0 gives the number of elements that are not 0. p = infinity
/// gives max |x|, p = -infinity min |x|; both refuse to reduce no elements. Its gradient is 0 if the result is 0.
/// Refuses p = NaN.
CRISOL_API Tensor norm(const Tensor& x, double p = 2, const Shape& axes = {}, bool keepdim = false);

/// log sum exp x of f32, f16 or f64, without overflow. -inf for no elements, and if all elements are -inf.
CRISOL_API Tensor logsumexp(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The running sum y[i] = x[0] + … + x[i] along an axis, in the shape of x. Integers and bool give i64.
CRISOL_API Tensor cumsum(const Tensor& x, int axis);

/// The running product y[i] = x[0] … x[i] along an axis, in the shape of x. Integers and bool give i64. Its gradient is
/// exact even if elements are 0. The gradient itself has no gradient.
CRISOL_API Tensor cumprod(const Tensor& x, int axis);

/// The running sum of exponentials y[i] = log(exp x[0] + … + exp x[i]) of f32, f16 or f64 along an axis, without
/// overflow.
CRISOL_API Tensor logcumsumexp(const Tensor& x, int axis);

/// The array API's cumulative_sum: like cumsum, with a 0 in front if include_initial is true.
CRISOL_API Tensor cumulative_sum(const Tensor& x, int axis, bool include_initial = false);

/// The array API's cumulative_prod: like cumprod, with a 1 in front if include_initial is true.
CRISOL_API Tensor cumulative_prod(const Tensor& x, int axis, bool include_initial = false);

/// How many elements differ from 0, as i64. NaN differs from 0. Has no gradient.
CRISOL_API Tensor count_nonzero(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The differences x[i + 1] - x[i] along an axis, n times. `prepend` and `append`, if they are defined, are first
/// joined to x. They have the dtype and shape of x, except for the size along the axis. For bool the result is whether
/// the neighbours differ. Refuses a negative n.
CRISOL_API Tensor diff(const Tensor& x, std::int64_t n = 1, int axis = -1, const Tensor& prepend = Tensor(),
                       const Tensor& append = Tensor());

/// The position (i64) of the first largest element, in the order of the reduced axes, outermost axis first. NaN counts
/// as the largest. Has no gradient. Refuses to reduce no elements.
CRISOL_API Tensor argmax(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The position (i64) of the first smallest element; otherwise like argmax.
CRISOL_API Tensor argmin(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Whether any element differs from 0, as bool. NaN differs from 0. false for no elements. Has no gradient.
CRISOL_API Tensor any(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Whether all elements differ from 0, as bool. true for no elements. Has no gradient.
CRISOL_API Tensor all(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

}  // namespace crisol
