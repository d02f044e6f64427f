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

  /// One axis along which every operand lies element after element.
  bool is_flat() const noexcept;
};

/// Sizes that a and b both broadcast to, aligned at the last axis; refuses, naming op and both shapes.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

/// Strides of a tensor as an operand of `shape`. A stride is 0 where the tensor is repeated along the axis. The shapes
/// must broadcast.
Shape broadcast_strides(const Tensor& x, const Shape& shape);

/// Removes axes of size 1, and merges neighbouring axes that every operand walks through without a jump. The order of
/// the elements stays.
Loop collapse(const Shape& shape, std::span<const Shape> strides);

/// Refuses to write a tensor in which several indices mean the same element. The message names op.
void require_no_overlap(const char* op, const Tensor& dst);

}  // namespace crisol::ops
