// Raw sorting along an axis, not recorded by autograd. The differentiable functions are in crisol/functions/sort.h.
//
// Any dtype and strides. Results are contiguous. NaN counts as larger than every number, and -0 as equal to 0. Equal
// elements keep their order, also with `descending`, so results always have the same bits. Errors (invalid_argument):
// an undefined tensor, an axis out of range, a size above 2^32 - 2 along the axis.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// Sorts the elements along an axis from small to large, or with `descending` from large to small. The sort is stable.
/// A scalar stays as it is and has index 0.
CRISOL_API SortResult sort(const Tensor& x, int axis = -1, bool descending = false);
CRISOL_API void sort_into(const Tensor& values, const Tensor& indices, const Tensor& x, int axis = -1,
                          bool descending = false);

/// The indices that sort returns.
CRISOL_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);
CRISOL_API void argsort_into(const Tensor& out, const Tensor& x, int axis = -1, bool descending = false);

/// The k largest (or smallest) elements along an axis, with the largest (smallest) first. They equal the first k
/// elements of sort(x, axis, largest). Refuses k outside [0, size of the axis].
CRISOL_API SortResult topk(const Tensor& x, std::int64_t k, int axis = -1, bool largest = true);
CRISOL_API void topk_into(const Tensor& values, const Tensor& indices, const Tensor& x, std::int64_t k, int axis = -1,
                          bool largest = true);

/// For each value, the number (i64) of elements of `sorted` that are below the value. With `right`, equal elements
/// count too. `sorted` (n) is in ascending order. values has any shape and the same dtype. The result has its shape.
CRISOL_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);
CRISOL_API void searchsorted_into(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right = false);

}  // namespace crisol::ops
