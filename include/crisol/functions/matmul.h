// Differentiable matrix products.
#pragma once

#include "crisol/fuse.h"
#include "crisol/ops/matmul.h"

namespace crisol {

/// ops::matmul with gradients for both operands.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b);

/// f(matmul(a, b), …) of a fused function f, in one kernel where it can be: see Epilogue.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b, const Epilogue& epilogue);

/// ops::linear with gradients for x, weight and bias.
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

/// f(linear(x, weight, bias), …) of a fused function f, in one kernel where it can be: see Epilogue.
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Epilogue& epilogue);

}  // namespace crisol
