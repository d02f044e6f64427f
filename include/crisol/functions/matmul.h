// Differentiable matrix products.
#pragma once

#include "crisol/fuse.h"
#include "crisol/tensor.h"

namespace crisol {

/// The product of matrices: a (…, M, K) times b (…, K, N) gives (…, M, N). The leading axes broadcast. Both have one
/// dtype, any but bool, and are on one device. f16 is computed in f32. Whole numbers are exact modulo their size, and
/// have no gradient. An operand is used without a copy if one of its last two strides is 1, as in a transpose. Both
/// operands have gradients.
///
/// A vector on the left counts as one row, a vector on the right as one column. The result has no axis for it, as in
/// PyTorch: (K) times (K, N) gives (N), (…, M, K) times (K) gives (…, M), and (K) times (K) gives ().
///
/// Throws invalid_argument, with both shapes, if K differs, an operand is a scalar, or the leading axes do not
/// broadcast.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b);

/// f(matmul(a, b), …) for a fused function f, in one kernel if possible: see Epilogue.
CRISOL_API Tensor matmul(const Tensor& a, const Tensor& b, const Epilogue& epilogue);

/// y = x · weightᵀ + bias, with gradients for x, weight and bias. x is (…, I), weight (O, I), bias (O) or undefined,
/// and y (…, O).
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

/// f(linear(x, weight, bias), …) for a fused function f, in one kernel if possible: see Epilogue.
CRISOL_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Epilogue& epilogue);

}  // namespace crisol
