// Raw views: other shapes and strides over the same memory. Not recorded by autograd. Axes count from 0, or from -1
// backwards; everything out of range is refused with its values.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The same elements in order under another shape with as many elements; one size may be -1 and is worked out. A view
/// where the strides allow it, else a contiguous copy.
CRISOL_API Tensor reshape(const Tensor& x, const Shape& shape);

/// Merges the axes first..last into one (a scalar becomes one element of rank 1).
CRISOL_API Tensor flatten(const Tensor& x, int first = 0, int last = -1);

/// Axis i of the result is axis axes[i] of x; each axis is named once.
CRISOL_API Tensor permute(const Tensor& x, const Shape& axes);

/// Swaps two axes.
CRISOL_API Tensor transpose(const Tensor& x, int axis_a, int axis_b);

/// Elements start .. start+length-1 along an axis; start must not be negative.
CRISOL_API Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length);

/// Element `index` along an axis, which disappears; a negative index counts from the end.
CRISOL_API Tensor select(const Tensor& x, int axis, std::int64_t index);

/// Repeats axes of size 1 without copying; new axes may appear in front; -1 keeps a size.
CRISOL_API Tensor expand(const Tensor& x, const Shape& shape);

/// Removes an axis of size 1; nothing changes where its size is not 1.
CRISOL_API Tensor squeeze(const Tensor& x, int axis);

/// Inserts an axis of size 1 before `axis` (-1 appends one).
CRISOL_API Tensor unsqueeze(const Tensor& x, int axis);

}  // namespace crisol::ops
