// Differentiable softmax and log-softmax of f32, f16 or f64. Results have the shape and dtype of x. A
// scalar has the axes 0 and -1. Errors (invalid_argument): an undefined tensor, another dtype, an axis out of range.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// exp(x) / sum exp(x) along an axis, without overflow. A row with +inf or NaN, or with -inf only, gives NaN.
CRISOL_API Tensor softmax(const Tensor& x, int axis);

/// x - log sum exp(x) along an axis, without overflow. It is NaN if softmax is NaN.
CRISOL_API Tensor log_softmax(const Tensor& x, int axis);

}  // namespace crisol
