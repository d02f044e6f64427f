// Raw softmax and log-softmax. Not recorded by autograd.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// exp(x - max x) / sum exp(x - max x) along an axis; x f32 or f16 (computed in float), the result of its shape and
/// dtype. A scalar has the axes 0 and -1. A row of -inf alone gives NaN, as does one that holds +inf or NaN.
CRISOL_API Tensor softmax(const Tensor& x, int axis);
/// y (dy - sum dy y): the gradient of x from softmax' result y. dy and y of one shape and dtype.
CRISOL_API Tensor softmax_backward(const Tensor& dy, const Tensor& y, int axis);

/// (x - max x) - log sum exp(x - max x) along an axis; NaN where softmax is NaN, -inf where x is -inf.
CRISOL_API Tensor log_softmax(const Tensor& x, int axis);
/// dy - exp(y) sum dy: the gradient of x from log_softmax' result y.
CRISOL_API Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int axis);

}  // namespace crisol::ops
