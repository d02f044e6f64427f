// Raw softmax and log-softmax, not recorded by autograd.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// exp(x - max x) / sum exp(x - max x) along an axis. x is f32, f16 or f64, computed in its value type. The result has
/// the shape and dtype of x. A scalar has the axes 0 and -1. A row with +inf or NaN, or with -inf only, gives NaN.
CRISOL_API Tensor softmax(const Tensor& x, int axis);
CRISOL_API void softmax_into(const Tensor& out, const Tensor& x, int axis);
/// The gradient of x: y (dy - sum dy y), where y is the result of softmax. dy and y have the same shape and dtype.
CRISOL_API Tensor softmax_backward(const Tensor& dy, const Tensor& y, int axis);
CRISOL_API void softmax_backward_into(const Tensor& out, const Tensor& dy, const Tensor& y, int axis);

/// (x - max x) - log sum exp(x - max x) along an axis. It is NaN if softmax is NaN, and otherwise -inf if x is -inf.
CRISOL_API Tensor log_softmax(const Tensor& x, int axis);
CRISOL_API void log_softmax_into(const Tensor& out, const Tensor& x, int axis);
/// The gradient of x: dy - exp(y) sum dy, where y is the result of log_softmax.
CRISOL_API Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int axis);
CRISOL_API void log_softmax_backward_into(const Tensor& out, const Tensor& dy, const Tensor& y, int axis);

}  // namespace crisol::ops
