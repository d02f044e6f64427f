// Differentiable functions that backward functions of several ops use.
#pragma once

#include <functional>
#include <vector>

#include "autograd/node.h"
#include "crisol/tensor.h"

namespace crisol::autograd {

/// A differentiable function from a tensor to a view of it.
using View = std::function<Tensor(const Tensor& x)>;

/// The gradient of view(x) for an x of `shape`: zeros, with dy where view(x) lies. It is differentiable.
Tensor view_backward(const Tensor& dy, const Shape& shape, const View& view);

/// ops::sum_to with a gradient.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// ops::sum_backward with a gradient. It repeats dy over `shape`. In dy, the axes `axes` are missing or have size 1.
Tensor sum_backward(const Tensor& dy, const Shape& shape, const Shape& axes);

/// The gradients of function(inputs), as differentiable functions of the inputs and of dy, the gradients of its
/// results. This is for ops whose backward op has no gradient: while backward is recorded, `function` computes the op
/// with differentiable functions.
Gradients gradients_of(const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function,
                       const std::vector<Tensor>& inputs, const Gradients& dy, Needs needs);

}  // namespace crisol::autograd
