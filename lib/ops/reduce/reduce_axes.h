// Which axes a reduction keeps and which it walks over.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

struct ReduceAxes {
  Shape kept_shape, kept_strides;        ///< Collapsed, at least rank 1.
  Shape reduced_shape, reduced_strides;  ///< Collapsed, at least rank 1.
  std::int64_t outputs = 1, reduced = 1;
};

/// A mask: bit i is set if axis i is reduced. An empty list means all axes. Throws, naming op, for axes out of range or
/// named twice.
unsigned reduced_axes(const char* op, int rank, const Shape& axes);

/// The shape without the reduced axes. With keepdim they have size 1.
Shape reduced_shape(const Shape& shape, unsigned reduced, bool keepdim);

/// How many elements are combined into one result.
std::int64_t reduced_count(const Shape& shape, unsigned reduced);

/// The axes of a tensor with this shape and these strides. With in_order, the walk over the reduced axes keeps their
/// order. Otherwise it takes the order that suits the memory.
ReduceAxes split_axes(const Shape& shape, const Shape& strides, unsigned reduced, bool in_order);

/// A view of `result` in which the reduced axes have size 1. `result` comes from reducing a tensor of x_shape, and may
/// have the reduced axes or not. Throws for other shapes.
Tensor with_axes(const char* op, const Tensor& result, const Shape& x_shape, unsigned reduced);

}  // namespace crisol::ops
