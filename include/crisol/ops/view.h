// Raw views: other shapes and strides over the same memory, not recorded by autograd. Axes count from 0, or from -1
// backwards. An error about an argument out of range shows its value.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/tensor.h"

namespace crisol::ops {

/// The same elements in the same order, in another shape with the same number of elements. One size may be -1, and is
/// then computed. The result is a view if the strides allow it, otherwise a contiguous copy.
CRISOL_API Tensor reshape(const Tensor& x, const Shape& shape);

/// Any view of the memory that x shares with its views: element (i, j, …) is element offset + i strides[0] + j
/// strides[1]
/// + … of this memory. Without an offset the view begins where x begins (Tensor::offset). Several indices may mean one
/// element, as in windows that overlap. Nothing can be written to such a view. Refuses negative sizes and strides, and
/// a view that leaves the memory.
CRISOL_API Tensor as_strided(const Tensor& x, const Shape& shape, const Shape& strides,
                             std::optional<std::int64_t> offset = std::nullopt);

/// The same view with elements of another dtype. The strides and the offset count elements of `dtype`.
CRISOL_API Tensor reinterpret(const Tensor& x, DType dtype, const Shape& shape, const Shape& strides,
                              std::int64_t offset);

/// Merges the axes first to last into one axis. A scalar becomes a tensor of shape (1).
CRISOL_API Tensor flatten(const Tensor& x, int first = 0, int last = -1);

/// Axis i of the result is axis axes[i] of x. Each axis must appear once.
CRISOL_API Tensor permute(const Tensor& x, const Shape& axes);

/// Swaps two axes.
CRISOL_API Tensor transpose(const Tensor& x, int axis_a, int axis_b);

/// Elements start … start+length-1 along an axis. start must not be negative.
CRISOL_API Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length);

/// Element `index` along an axis. The result lacks the axis. A negative index counts from the end.
CRISOL_API Tensor select(const Tensor& x, int axis, std::int64_t index);

/// Repeats axes of size 1 without copying. `shape` may have more axes in front. -1 keeps the size of an axis.
CRISOL_API Tensor expand(const Tensor& x, const Shape& shape);

/// Removes an axis if its size is 1. Otherwise nothing changes.
CRISOL_API Tensor squeeze(const Tensor& x, int axis);

/// Inserts an axis of size 1 before `axis`. -1 adds it at the end.
CRISOL_API Tensor unsqueeze(const Tensor& x, int axis);

}  // namespace crisol::ops
