// Differentiable reductions: crisol/ops/reduce.h with gradients. Errors as there. Results of integers and bool have no
// gradient.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// The sum over `axes` (none means all), which disappear or, with keepdim, stay with size 1. 0 over no elements.
CRISOL_API Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The mean over `axes`; NaN over no elements, because 0 / 0 has no value.
CRISOL_API Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The product over `axes`; 1 over no elements.
CRISOL_API Tensor prod(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest element over `axes`; equal ones share the gradient evenly.
CRISOL_API Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The smallest element over `axes`; equal ones share the gradient evenly.
CRISOL_API Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest elements along one axis and their positions; the gradient goes to the elements at those positions.
CRISOL_API ExtremeResult max_with_indices(const Tensor& x, int axis, bool keepdim = false);

/// The smallest elements along one axis and their positions; the gradient goes to the elements at those positions.
CRISOL_API ExtremeResult min_with_indices(const Tensor& x, int axis, bool keepdim = false);

/// sum (x - mean)^2 / max(0, n - correction) over `axes`.
CRISOL_API Tensor var(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);

/// The square root of var; its gradient is 0 where it is 0.
CRISOL_API Tensor stddev(const Tensor& x, const Shape& axes = {}, bool keepdim = false, double correction = 1);

/// (sum |x|^p)^(1/p) over `axes`; p may be infinite. Its gradient is 0 where it is 0.
CRISOL_API Tensor norm(const Tensor& x, double p = 2, const Shape& axes = {}, bool keepdim = false);

/// log sum exp x over `axes`, computed safely.
CRISOL_API Tensor logsumexp(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// x[0] + … + x[i] along an axis, in every place i.
CRISOL_API Tensor cumsum(const Tensor& x, int axis);

/// The position (i64) of the first largest element, in the order of the reduced axes, outermost axis first. NaN counts
/// as the largest. Has no gradient. Refuses to reduce no elements.
CRISOL_API Tensor argmax(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The position (i64) of the first smallest element; otherwise like argmax.
CRISOL_API Tensor argmin(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Whether any element differs from 0, as bool. NaN differs from 0. false over no elements. Has no gradient.
CRISOL_API Tensor any(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Whether all elements differ from 0, as bool. true over no elements. Has no gradient.
CRISOL_API Tensor all(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

}  // namespace crisol
