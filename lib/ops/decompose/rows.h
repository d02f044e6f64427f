// The rows that the kernels of decompositions work on: cl_kernels/decompose/rows.h.
#pragma once

#include <cstdint>

#include "crisol/options/decompose.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// Rows (batch, n, length) of vectors of m elements, and behind them perhaps the rows of the unit matrix.
struct MatrixRows {
  Tensor x;
  Tensor scales;       ///< (batch): the factors by which the elements must be multiplied.
  std::int64_t m = 0;  ///< Elements of the first vector.

  std::int64_t batch() const { return x.size(0); }
  std::int64_t count() const { return x.size(1); }
  std::int64_t length() const { return x.size(2); }
  std::int64_t start() const;  ///< The place where the second vector of a row begins, if there is one.
};

/// The rows of a contiguous f32 tensor (batch, n, m) with elements.
MatrixRows load_rows(const Tensor& matrices, bool with_unit, bool symmetric = false);

/// How the groups of a launch share a matrix.
struct RowSharing {
  RowGeometry geometry;
  std::int64_t slots;  ///< Groups that take the units of a matrix in turn. Several make one step in a launch.
};

/// One step of a matrix has `units` units of `length` elements each. On a GPU each unit has a group. A CPU has a
/// work-item for each matrix, unless the matrices are few and large.
RowSharing sharing_of(const Target& target, std::int64_t matrices, std::int64_t units, std::int64_t length);

/// Calls launch(begin, end) for all steps, in order. `iterations` are the loop iterations of a whole step.
template <class Launch>
void in_steps(const Target& target, const RowSharing& sharing, std::int64_t steps, std::int64_t iterations,
              const Launch& launch) {
  // A launch of several groups to a matrix, or of a group of several work-items, makes one step.
  const bool alone = sharing.slots == 1 && sharing.geometry.group == 1;
  const std::int64_t together = alone ? std::max<std::int64_t>(1, target.loop_budget / iterations) : 1;
  for (std::int64_t begin = 0; begin < steps; begin += together) launch(begin, std::min(begin + together, steps));
}

/// x as a contiguous f32 (batch, m, n), or with `transposed` (batch, n, m).
Tensor batch_of(const Tensor& x, bool transposed);

/// y (batch, …) in the shape (leading axes of x, …) and the dtype of x.
Tensor like_batch(const Tensor& y, const Tensor& x);

}  // namespace crisol::ops
