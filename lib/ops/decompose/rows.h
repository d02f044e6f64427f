// The rows that the kernels of decompositions work on: cl_kernels/decompose/rows.h.
#pragma once

#include <cstdint>

#include "crisol/options/decompose.h"
#include "ops/rowwise/rows.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

/// Rows (batch, n, length). A row holds a vector of m elements, and may also hold a row of the unit matrix.
struct MatrixRows {
  Tensor x;
  Tensor scales;       ///< (batch): the factors that restore the original scale.
  std::int64_t m = 0;  ///< Elements of the first vector.

  std::int64_t batch() const { return x.size(0); }
  std::int64_t count() const { return x.size(1); }
  std::int64_t length() const { return x.size(2); }
  std::int64_t start() const;  ///< Where the second vector of a row begins, if there is one.
};

/// Makes the rows of a contiguous tensor (batch, n, m) of f32 or f64, which must have elements.
MatrixRows load_rows(const Tensor& matrices, bool with_unit, bool symmetric = false);

/// How the groups of a launch share the work on a matrix.
struct RowSharing {
  RowGeometry geometry;
  std::int64_t slots;  ///< The number of groups that take a matrix' units in turn. With several groups, a launch makes
                       /// one step.
};

/// A step of a matrix has `units` units of `length` elements each. On a GPU each unit has a group. On a CPU each matrix
/// has a work-item, unless the matrices are few and large. For f64 a CPU takes single elements.
RowSharing sharing_of(const Target& target, DType type, std::int64_t matrices, std::int64_t units, std::int64_t length);

/// Calls launch(begin, end) for all steps, in order. A whole step takes `iterations` loop iterations.
template <class Launch>
void in_steps(const Target& target, const RowSharing& sharing, std::int64_t steps, std::int64_t iterations,
              const Launch& launch) {
  // With several groups for a matrix, or several work-items in a group, a launch makes only one step.
  const bool alone = sharing.slots == 1 && sharing.geometry.group == 1;
  const std::int64_t together = alone ? std::max<std::int64_t>(1, target.loop_budget / iterations) : 1;
  for (std::int64_t begin = 0; begin < steps; begin += together) launch(begin, std::min(begin + together, steps));
}

/// x as a contiguous tensor of f32 or f64 (batch, m, n), or (batch, n, m) if `transposed`.
Tensor batch_of(const Tensor& x, bool transposed);

/// Gives y (batch, …) the leading axes and the dtype of x.
Tensor like_batch(const Tensor& y, const Tensor& x);

}  // namespace crisol::ops
