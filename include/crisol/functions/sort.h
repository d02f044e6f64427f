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

/// The position (i64) in `sorted` at which each value keeps the order: the number of elements that are below the value.
/// With `right`, equal elements count too. `sorted` (n) is in ascending order. With `sorter` (n), the elements at the
/// positions `sorter` are in ascending order. The result has the shape of values. The two dtypes are promoted to one.
/// Has no gradient.
CRISOL_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false,
                               const Tensor& sorter = Tensor());

/// Whether each element of x is one of `values`, as bool. The two dtypes are promoted to one. NaN is never among the
/// values. Has no gradient.
CRISOL_API Tensor isin(const Tensor& x, const Tensor& values, bool invert = false);

}  // namespace crisol
