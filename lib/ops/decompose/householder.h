// QR of the rows of matrices: cl_kernels/decompose/householder.cl.
#pragma once

#include "ops/decompose/rows.h"

namespace crisol::ops {

/// The reflections of matrices whose columns are stored as rows. `rows` then holds the reflections, with R in the upper
/// triangles.
struct Reflections {
  MatrixRows rows;
  RowGeometry geometry;
  Tensor taus;  ///< (batch, min(m, n)).
};

Reflections reflect(const MatrixRows& rows, const RowSharing& sharing);

/// The first `columns` columns of Q as rows, (batch, columns, m).
Tensor columns_of(const Reflections& reflections, std::int64_t columns);

}  // namespace crisol::ops
