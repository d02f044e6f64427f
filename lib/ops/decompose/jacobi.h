// Jacobi's method on rows: cl_kernels/decompose/jacobi.cl.
#pragma once

#include "ops/decompose/rows.h"

namespace crisol::ops {

/// Rotates pairs of rows until all rows are orthogonal. With `symmetric` it rotates until the second vectors are
/// eigenvectors. Then scales all vectors to length 1. Returns the singular values or eigenvalues of the rows (batch,
/// n), in no order.
Tensor rotate_rows(const MatrixRows& rows, bool symmetric, const RowSharing& sharing);

/// How groups share the pairs of rotate_rows.
RowSharing sharing_of_pairs(const MatrixRows& rows);

/// Vectors (batch, n, length), permuted by `order` (batch, n).
Tensor in_order(const Tensor& vectors, const Tensor& order);

}  // namespace crisol::ops
