// Checks for functions of matrices.
#pragma once

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/tensor.h"
#include "tensor/impl.h"

namespace crisol::ops {

/// Throws if x is undefined, of another dtype than a floating-point one, or of rank below 2.
inline void require_matrices(const char* op, const Tensor& x) {
  require(x.defined(), op, "the tensor is undefined");
  require(is_floating(x.dtype()), op, "the tensor must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  require(x.dim() >= 2, op, "the tensor must be (…, m, n), its shape is ", x.shape());
}

/// Throws for an undefined tensor, and for matrices that are not square.
inline void require_square_shape(const char* op, const Tensor& x) {
  require(x.defined(), op, "the tensor is undefined");
  require(x.dim() >= 2 && x.size(-1) == x.size(-2), op, "the tensor must be (…, n, n), its shape is ", x.shape());
}

/// The same, and throws for another dtype than a floating-point one.
inline void require_square(const char* op, const Tensor& x) {
  require(x.defined(), op, "the tensor is undefined");
  require(is_floating(x.dtype()), op, "the tensor must be ", TypesThat{is_floating}, ", it is ", x.dtype());
  require_square_shape(op, x);
}

}  // namespace crisol::ops
