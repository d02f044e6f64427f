// Differentiable matrix products.
#pragma once

#include "crisol/ops/matmul.h"

namespace crisol {

/// ops::matmul with gradients for both operands.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b);

/// ops::linear with gradients for x, weight and bias.
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

}  // namespace crisol
