// Differentiable reductions: crisol/ops/reduce.h with gradients. Errors as there. Results of integers and bool have no
// gradient.
#pragma once

#include "crisol/ops/reduce.h"

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

// Without a gradient: positions (i64) of the first largest and the first smallest element, and whether any, or every,
// element is not 0.
using ops::all;
using ops::any;
using ops::argmax;
using ops::argmin;

}  // namespace crisol
