// Raw ordering along an axis. Not recorded by autograd; the differentiable functions are in crisol/functions/sort.h.
//
// Any dtype and strides; results are contiguous. NaN counts as larger than every number, and -0 as equal to 0. Equal
// elements stay in the order of their positions, in either direction, so results are the same bits every time. Errors
// (invalid_argument): an undefined tensor, an axis out of range, a size above 2^32 - 2 along the axis.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// The elements along an axis from small to large, or with `descending` from large to small. Always stable. A scalar is
/// its own order, with index 0.
CRISOL_API SortResult sort(const Tensor& x, int axis = -1, bool descending = false);

/// The indices of sort.
CRISOL_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);

/// The k largest (or smallest) elements along an axis in order, the first being the largest (smallest); what
/// sort(x, axis, largest) begins with. Refuses k outside [0, size of the axis].
CRISOL_API SortResult topk(const Tensor& x, std::int64_t k, int axis = -1, bool largest = true);

}  // namespace crisol::ops
