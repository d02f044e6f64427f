// Raw ops that read or write elements by index, not recorded by autograd. The differentiable functions are in
// crisol/functions/index.h.
//
// Tensors may have any strides. Results are contiguous. A negative axis counts from the end. Indices are whole numbers
// and count from 0. Errors (invalid_argument), with all tensors unchanged: an undefined tensor, two devices, another
// index dtype, ranks or sizes that do not fit, an axis out of range.
//
// The host does not wait for the device, so it does not see at once that an index is wrong: outside the axis, or
// negative. The device never reads or writes out of bounds. It notes the first wrong index, and the next read to the
// host throws invalid_argument with the op, the index and the range. Until then, a read with a wrong index gives NaN
// for floats, the smallest value for types with a sign, the largest for types without, and true for bool. An element
// for a wrong index is left out of the result. With the environment variable CRISOL_CHECK_INDICES=1, every op of this
// header waits for its indices. It throws invalid_argument with the first wrong index, its position and the range.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/options/scatter.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// PyTorch's gather. For axis 1 of rank 3: y[i, j, k] = x[i, index[i, j, k], k]. Other ranks and axes work likewise.
/// index has the rank of x. Its sizes are at most those of x, except along the given axis. y has the shape of index and
/// the dtype of x. Any dtype is taken.
CRISOL_API Tensor gather(const Tensor& x, int axis, const Tensor& index);
CRISOL_API void gather_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index);

/// The slices index[0], index[1], … of x along an axis. index has rank 1, or rank 0, which counts as one element. Any
/// dtype is taken.
CRISOL_API Tensor index_select(const Tensor& x, int axis, const Tensor& index);
CRISOL_API void index_select_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index);

/// A copy y of x to which src is added. For axis 1 of rank 3: y[i, index[i, j, k], k] += src[i, j, k]. index and src
/// have the rank of x. The sizes of index are at most those of src, and, except along the given axis, at most those of
/// x. If src is larger than index, only the part of src in the shape of index is added. x and src have the same dtype:
/// any but bool. Indices may repeat. Sums are formed in a fixed order, so the same call on the same device always gives
/// the same bits. f16 is added in f32 and rounded once. Integers wrap around when they overflow.
CRISOL_API Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);
CRISOL_API void scatter_add_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// A copy of x to which slices of src are added: slice j of src is added to slice index[j] along the axis. index has
/// rank 1. src has the sizes of x, except along the axis, where it has one slice for each index. For dtypes and the
/// order of sums see scatter_add.
CRISOL_API Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);
CRISOL_API void index_add_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// A copy of x in which elements of src replace others: y[i, index[i, j, k], k] = src[i, j, k] for axis 1 of rank 3.
/// Shapes are as in scatter_add. If an index repeats, the element with the largest position along the axis stays. Any
/// dtype is taken.
CRISOL_API Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src);
CRISOL_API void scatter_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// Like scatter_add, but `reduction` combines the old value of a place with all elements for this place. The dtypes and
/// the order are the same as for scatter_add.
CRISOL_API Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                                 ScatterReduction reduction);
CRISOL_API void scatter_reduce_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index,
                                    const Tensor& src, ScatterReduction reduction);

/// A copy of x in which slices of src replace others: slice j of src becomes slice index[j] along the axis. Shapes are
/// as in index_add. If an index repeats, the last slice stays. Any dtype is taken.
CRISOL_API Tensor index_copy(const Tensor& x, int axis, const Tensor& index, const Tensor& src);
CRISOL_API void index_copy_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// Like index_add, but `reduction` combines the old slice of a place with all slices for this place.
CRISOL_API Tensor index_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                               ScatterReduction reduction);
CRISOL_API void index_reduce_into(const Tensor& out, const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                                  ScatterReduction reduction);

/// index_copy in place on x. With `accumulate` it is index_add in place. The source may share memory with x.
CRISOL_API void index_write(const Tensor& x, int axis, const Tensor& index, const Tensor& src, bool accumulate);

/// The positions of the elements that are not 0, as i64 (N, rank of x): a row for each such element, in order. A row
/// has the position along each axis. NaN is not 0. The call waits for the number of rows. x has any dtype.
CRISOL_API Tensor nonzero(const Tensor& x);

/// Looks up rows of a table: weight (V, D) and indices (…) of any shape give (…, D). weight may have any dtype.
CRISOL_API Tensor embedding(const Tensor& weight, const Tensor& indices);
CRISOL_API void embedding_into(const Tensor& out, const Tensor& weight, const Tensor& indices);
/// The gradient of the table, (V, D) with V = num_embeddings. Row v is the sum of all rows of dy (…, D) whose index is
/// v, added in a fixed order. Row `padding_idx` is zero. dy is f32, f16 or f64.
CRISOL_API Tensor embedding_backward(const Tensor& dy, const Tensor& indices, std::int64_t num_embeddings,
                                     std::optional<std::int64_t> padding_idx = std::nullopt);
CRISOL_API void embedding_backward_into(const Tensor& out, const Tensor& dy, const Tensor& indices,
                                        std::int64_t num_embeddings,
                                        std::optional<std::int64_t> padding_idx = std::nullopt);

/// y[…, c] is 1 if indices[…] is c, else 0, for the classes c = 0 … num_classes - 1. An index that is no class is
/// an error. num_classes -1 means the largest index plus one, and the call then waits for the indices. y has any
/// dtype; i64 is PyTorch's.
CRISOL_API Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1, DType dtype = DType::i64);

}  // namespace crisol::ops
