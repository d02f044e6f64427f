// Differentiable sorting along an axis. The gradient of a value goes to the element of x with this value.
//
// Any dtype and strides. NaN counts as larger than every number, and -0 as equal to 0. Equal elements keep their order,
// also with `descending`. Errors (invalid_argument): an undefined tensor, an axis out of range, a size above 2^32 - 2
// along the axis.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol {

/// Sorts the elements along an axis from small to large, or with `descending` from large to small. A scalar stays as it
/// is and has index 0.
CRISOL_API SortResult sort(const Tensor& x, int axis = -1, bool descending = false);

/// The indices that sort returns. They have no gradient.
CRISOL_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);

/// The k largest (or smallest) elements along an axis, with the largest (smallest) first, and their indices. Refuses k
/// outside [0, size of the axis].
CRISOL_API SortResult topk(const Tensor& x, std::int64_t k, int axis = -1, bool largest = true);

/// For each value, the number (i64) of elements of `sorted` that are below it, or with `right` not above it: the place
/// at which the value keeps the order. `sorted` (n) is in ascending order, or with `sorter` (n) it is in this order
/// when read at the positions `sorter`. values has any shape, and the result has the same. The two dtypes are promoted
/// to one. Has no gradient.
CRISOL_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false,
                               const Tensor& sorter = Tensor());

/// Whether each element of x is one of `values`, as bool. The two dtypes are promoted to one. NaN is no element of
/// anything. Has no gradient.
CRISOL_API Tensor isin(const Tensor& x, const Tensor& values, bool invert = false);

}  // namespace crisol
