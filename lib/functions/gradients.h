// Differentiable functions that backward functions of several ops use.
#pragma once

#include "crisol/tensor.h"

namespace crisol::autograd {

/// ops::sum_to with a gradient.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// ops::sum_backward with a gradient: dy, whose axes `axes` were reduced or not, repeated over `shape`.
Tensor sum_backward(const Tensor& dy, const Shape& shape, const Shape& axes);

}  // namespace crisol::autograd
