// Fewer axes for the same elements. Elementwise, copy and reduce kernels loop over these axes.
#pragma once

#include <array>
#include <span>

#include "crisol/tensor.h"

namespace crisol::ops {

/// Operands of one loop: their strides over one shape.
struct Loop {
  static constexpr int max_operands = 13;

  Shape shape;  ///< At least rank 1.
  std::array<Shape, max_operands> strides;
  int operands = 0;

  /// Whether there is one axis, along which every operand is contiguous.
  bool is_flat() const noexcept;
};

/// The shape to which a and b broadcast, aligned at the last axis. The error names op and both shapes.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

/// The strides of a tensor as an operand of `shape`. A stride is 0 if the tensor is repeated along the axis. The shapes
/// must broadcast.
Shape broadcast_strides(const Tensor& x, const Shape& shape);

/// Removes axes of size 1, and merges neighbouring axes along which every operand has one common stride. Keeps the
/// order of the elements.
Loop collapse(const Shape& shape, std::span<const Shape> strides);

/// Throws if several indices of dst mean the same element. The message names op.
void require_no_overlap(const char* op, const Tensor& dst);

}  // namespace crisol::ops
