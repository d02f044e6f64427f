// Raw picking and adding by index. Not recorded by autograd; the differentiable functions are in
// crisol/functions/index.h.
//
// Tensors have any strides; results are contiguous. An axis counts from the end where it is negative. Indices are i64,
// i32 or u8 and count from 0. Errors (invalid_argument): an undefined tensor, two devices, another index dtype, ranks
// or sizes that do not fit, an axis out of range; all tensors are then as they were.
//
// An index outside the axis (a negative one, too) is not seen by the host, which does not wait for the device: nothing
// is read or written out of bounds. Where an element was to be picked, the result is NaN for floats, the smallest value
// of i32 and i64, 255 for u8 and true for bool; where one was to be added, it is left out. With the environment
// variable CRISOL_CHECK_INDICES=1 every op of this page waits for its indices and throws invalid_argument with the
// first wrong one, its position and the range.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/tensor.h"

namespace crisol::ops {

/// PyTorch's gather: for index (I, J, K) and axis 1, y[i, j, k] = x[i, index[i, j, k], k], and likewise for other ranks
/// and axes. index has x's rank and is no larger than x except along the axis; y has its shape and x's dtype, any one.
CRISOL_API Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// The slices index[0], index[1], … of x along an axis; index has rank 1 (or 0, which counts as one element). Any
/// dtype.
CRISOL_API Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// A copy of x to which src is added: for axis 1, y[i, index[i, j, k], k] += src[i, j, k]. index and src have x's rank;
/// index is no larger than src, nor than x except along the axis, and of a larger src only that part is added. x and
/// src have the same dtype, any but bool. Indices may repeat: what meets in one element is added in a fixed order, so
/// that the same call gives the same bits on a device every time. f16 is added in f32 and rounded once; integers wrap.
CRISOL_API Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// A copy of x to whose slice index[j] along an axis slice j of src is added; index has rank 1, src x's sizes except
/// along the axis, where it has one slice for each index. dtypes and order of the sums as for scatter_add.
CRISOL_API Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// Rows of a table: weight (V, D) and indices of any shape (…) give (…, D). Any dtype.
CRISOL_API Tensor embedding(const Tensor& weight, const Tensor& indices);
/// The gradient of the table, (V, D): row v is the sum of the rows of dy (…, D), f32 or f16, whose index is v, in a
/// fixed order; row `padding_idx` is zero.
CRISOL_API Tensor embedding_backward(const Tensor& dy, const Tensor& indices, std::int64_t num_embeddings,
                                     std::optional<std::int64_t> padding_idx = std::nullopt);

/// y[…, c] = 1 where indices[…] is c, else 0, for `num_classes` classes c; an index that is no class gives zeros alone.
/// -1 classes means the largest index plus one, for which the call waits. Any dtype, i64 as in PyTorch.
CRISOL_API Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1, DType dtype = DType::i64);

}  // namespace crisol::ops
