// Differentiable activations that are made of the functions of crisol/functions/elementwise.h. Errors
// (invalid_argument): an undefined tensor, a dtype that the function does not take.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// The first half of x along an axis times the sigmoid of the second half. Refuses an odd size.
CRISOL_API Tensor glu(const Tensor& x, int axis = -1);

/// x, and 0 where |x| is at most lambda.
CRISOL_API Tensor hardshrink(const Tensor& x, double lambda = 0.5);

/// x moved by lambda towards 0, and 0 where |x| is at most lambda.
CRISOL_API Tensor softshrink(const Tensor& x, double lambda = 0.5);

/// softmax(-x, axis).
CRISOL_API Tensor softmin(const Tensor& x, int axis);

/// x / (1 + |x|).
CRISOL_API Tensor softsign(const Tensor& x);

/// x - tanh(x).
CRISOL_API Tensor tanhshrink(const Tensor& x);

}  // namespace crisol
