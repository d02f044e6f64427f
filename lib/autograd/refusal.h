// Gradients that are not differentiable.
#pragma once

#include <vector>

#include "crisol/tensor.h"

namespace crisol::autograd {

/// Links a gradient that was computed without a record to the tensors that it depends on. Backward through the result
/// throws and names the op.
Tensor first_order_only(const char* op, const Tensor& gradient, const std::vector<Tensor>& from);

}  // namespace crisol::autograd
