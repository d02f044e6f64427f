// Differentiable functions that backward functions of several ops use.
#pragma once

#include <functional>
#include <vector>

#include "autograd/node.h"
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

/// The gradients of function(inputs), as differentiable functions of the inputs and of dy, the gradients of its
/// results. For ops whose backward op has no gradient: while backward is recorded, the same function of differentiable
/// functions takes its place.
Gradients gradients_of(const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function,
                       const std::vector<Tensor>& inputs, const Gradients& dy, Needs needs);

}  // namespace crisol::autograd
