// The products of crisol/ops/matmul.h and conv.h that end in an epilogue, and products of several types.
#pragma once

#include "crisol/ops/conv.h"
#include "crisol/tensor.h"
#include "ops/product/epilogue.h"

namespace crisol::ops {

/// The result of an op with an epilogue.
struct ProductResult {
  Tensor y;
  bool has_epilogue;  ///< False if the chosen variant runs no epilogue. Then the caller must run it on y.
};

/// f(a·b), f(x · weightᵀ + bias), f(conv2d(x, weight, bias)). The epilogue's operands are laid out for the contiguous
/// result.
///
/// matmul: the leading axes count as one axis, so a row of the result is (product p, row i), with M rows in each
/// product. conv2d: row i is the output channel, counted over all groups. The batch of an operand is not read.
ProductResult matmul(const Tensor& a, const Tensor& b, const ProductEpilogue& f);
ProductResult linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const ProductEpilogue& f);
ProductResult conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
                     const ProductEpilogue& f);

/// a·b of floating-point tensors whose types may differ, with results of `dtype`. Sums are f32.
Tensor matmul_as(const Tensor& a, const Tensor& b, DType dtype);

}  // namespace crisol::ops
