// Differentiable matrix products.
#pragma once

#include "crisol/fuse.h"
#include "crisol/tensor.h"

namespace crisol {

/// ops::matmul with gradients for both operands. A vector on the left counts as one row, a vector on the right as one
/// column, and the result has no axis for it: (K) times (K, N) gives (N), (…, M, K) times (K) gives (…, M), and (K)
/// times (K) gives (), as in PyTorch.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b);

/// f(matmul(a, b), …) of a fused function f, in one kernel where it can be: see Epilogue.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b, const Epilogue& epilogue);

/// ops::linear with gradients for x, weight and bias.
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

/// f(linear(x, weight, bias), …) of a fused function f, in one kernel where it can be: see Epilogue.
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Epilogue& epilogue);

}  // namespace crisol
