// Which axes a reduction keeps and which it walks over.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

struct ReduceAxes {
  Shape kept_shape, kept_strides;        ///< Collapsed, at least rank 1.
  Shape reduced_shape, reduced_strides;  ///< Collapsed, at least rank 1.
  Shape result;                          ///< Shape of the result, with keepdim or without.
  std::int64_t outputs = 1, reduced = 1;
};

/// Bit i is set where axis i is reduced. Refuses, naming op, axes out of range or named twice; none means all.
unsigned reduced_axes(const char* op, int rank, const Shape& axes);

/// The shape without the reduced axes, or with size 1 for each.
Shape reduced_shape(const Shape& shape, unsigned reduced, bool keepdim);

/// Refuses undefined tensors and dtypes other than f32. in_order: the walk over the reduced axes keeps their order;
/// otherwise it takes the one that suits the memory.
ReduceAxes split_axes(const char* op, const Tensor& x, const Shape& axes, bool keepdim, bool in_order = false);

}  // namespace crisol::ops
