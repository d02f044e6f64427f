// The products of crisol/ops/matmul.h and conv.h that end in an epilogue.
#pragma once

#include "crisol/ops/conv.h"
#include "crisol/tensor.h"
#include "ops/product/epilogue.h"

namespace crisol::ops {

/// f(a·b), f(x · weightᵀ + bias), f(conv2d(x, weight, bias)). The epilogue's operands are laid out for the contiguous
/// result. `applied` becomes false where the variant chosen takes no such epilogue: the result is then without f, which
/// the caller runs over it.
///
/// matmul: product p and row i count as in the operands' leading axes taken together (M rows each). conv2d: row i is
/// the output channel, of all groups; an operand's batch is not read.
Tensor matmul(const Tensor& a, const Tensor& b, const ProductEpilogue& f, bool& applied);
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const ProductEpilogue& f, bool& applied);
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
              const ProductEpilogue& f, bool& applied);

}  // namespace crisol::ops
