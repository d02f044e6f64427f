// Differentiable reductions: crisol/ops/reduce.h with gradients.
#pragma once

#include "crisol/ops/reduce.h"

namespace crisol {

/// The sum over `axes` (none means all), which disappear or, with keepdim, stay with size 1. 0 over no elements.
CRISOL_API Tensor sum(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The mean over `axes`; NaN over no elements.
CRISOL_API Tensor mean(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The largest element over `axes`; equal ones share the gradient evenly.
CRISOL_API Tensor max(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// The smallest element over `axes`; equal ones share the gradient evenly.
CRISOL_API Tensor min(const Tensor& x, const Shape& axes = {}, bool keepdim = false);

/// Position (i64) of the first largest element; has no gradient.
using ops::argmax;

}  // namespace crisol
