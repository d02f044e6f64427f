// Gradients of reductions that have gradients themselves. Each has two forms. If nothing is recorded, it calls the op
// of crisol/ops/reduce.h. Otherwise it consists of differentiable functions.
#pragma once

#include "crisol/tensor.h"

namespace crisol::autograd {

Tensor mean_backward(const Tensor& dy, const Shape& x_shape, const Shape& axes);
Tensor prod_backward(const Tensor& dy, const Tensor& x, const Shape& axes);
Tensor max_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes);
Tensor max_with_indices_backward(const Tensor& dy, const Tensor& indices, const Shape& x_shape, int axis);
Tensor var_backward(const Tensor& dy, const Tensor& x, const Shape& axes, double correction);
Tensor stddev_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes, double correction);
Tensor norm_backward(const Tensor& dy, const Tensor& x, const Tensor& y, double p, const Shape& axes);
Tensor logsumexp_backward(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& axes);
Tensor cumsum_backward(const Tensor& dy, int axis);

}  // namespace crisol::autograd
