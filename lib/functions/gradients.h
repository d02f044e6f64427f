// Differentiable functions that backward functions of several ops use.
#pragma once

#include <functional>

#include "crisol/tensor.h"

namespace crisol::autograd {

/// A differentiable function from a tensor to a view of it.
using View = std::function<Tensor(const Tensor& x)>;

/// The gradient of view(x) for an x of `shape`, with a gradient: zeros that have dy at the view's place.
Tensor view_backward(const Tensor& dy, const Shape& shape, const View& view);

/// ops::sum_to with a gradient.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// ops::sum_backward with a gradient. It repeats dy over `shape`. The axes `axes` of dy are missing or have size 1.
Tensor sum_backward(const Tensor& dy, const Shape& shape, const Shape& axes);

}  // namespace crisol::autograd
