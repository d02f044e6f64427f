// Differentiable functions that read or write elements by index. Indices are whole numbers and count from 0. A
// negative axis counts from the end. Errors (invalid_argument), with all tensors unchanged: an undefined tensor, two
// devices, another index dtype, ranks or sizes that do not fit, an axis out of range.
//
// As in PyTorch, a scalar may take the place of a tensor of shape (1), if all tensors of the call are scalars or have
// rank 1.
//
// The host does not wait for the device, so it does not see at once that an index is wrong: outside the axis, or
// negative where this is not allowed. The device never reads or writes out of bounds. It notes the first wrong index,
// and the next read to the host throws invalid_argument with the op, the index and the range: to_vector(), item(),
// printing, save(). Until then, a read with a wrong index gives NaN for floats, the smallest value for types with a
// sign, the largest for types without, and true for bool. A write or an addition with a wrong index is left out. With
// the environment variable CRISOL_CHECK_INDICES=1, each function waits for its indices and throws itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "crisol/options/scatter.h"
#include "crisol/tensor.h"

namespace crisol {

/// PyTorch's gather. For axis 1 of rank 3: y[i, j, k] = x[i, index[i, j, k], k]. Other ranks and axes work likewise.
/// index has the rank of x. Its sizes are at most those of x, except along the given axis. y has the shape of index and
/// the dtype of x.
CRISOL_API Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// The slices index[0], index[1], … of x along an axis. index has rank 1, or rank 0, which counts as one element.
CRISOL_API Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// A copy y of x to which src is added. For axis 1 of rank 3: y[i, index[i, j, k], k] += src[i, j, k]. index and src
/// have the rank of x. The sizes of index are at most those of src, and, except along the given axis, at most those of
/// x. x and src have the same dtype: any but bool. Indices may repeat. Sums are formed in a fixed order, so the same
/// device always gives the same bits. Differentiable in x and src.
CRISOL_API Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// A copy of x to which slices of src are added: slice j of src is added to slice index[j] along the axis. index has
/// rank 1. src has the sizes of x, except along the axis, where it has one slice for each index. Differentiable in x
/// and src.
CRISOL_API Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// A copy y of x in which elements of src replace others. For axis 1 of rank 3: y[i, index[i, j, k], k] = src[i, j, k].
/// Shapes are as in scatter_add. x and src have the same dtype, of any kind. If an index repeats, the element with the
/// largest position along the axis stays, and only this element gets a gradient. Differentiable in x and src.
CRISOL_API Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// Like scatter_add, but `reduction` combines the old value of a place with all elements for this place. Differentiable
/// in x and src. Equal largest or smallest elements of a place share its gradient evenly, as in PyTorch.
CRISOL_API Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                                 ScatterReduction reduction);

/// A copy of x in which slices of src replace others: slice j of src becomes slice index[j] along the axis. Shapes are
/// as in index_add. x and src have the same dtype, of any kind. If an index repeats, the last slice stays, and only
/// this slice gets a gradient. Differentiable in x and src.
CRISOL_API Tensor index_copy(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// Like index_add, but `reduction` combines the old slice of a place with all slices for this place. Gradients are as
/// in scatter_reduce.
CRISOL_API Tensor index_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                               ScatterReduction reduction);

/// Slices of x by tuples of positions. The last axis of index (B…, I…, k) holds tuples of k positions. x is (B…, S_1 …
/// S_k, R…). B… are the first `batch_axes` axes, with the same sizes in both. y is (B…, I…, R…): y[b, i] = x[b,
/// index[b, i, 0], …, index[b, i, k-1]]. Negative positions count from the end. x has any dtype. Differentiable in x.
/// Refuses tuples with more positions than x has axes after B…, and batch_axes outside [0, rank of index - 1].
CRISOL_API Tensor gather_nd(const Tensor& x, const Tensor& index, int batch_axes = 0);

/// A copy y of x (S_1 … S_k, R…) in which slices of src (I…, R…) replace others: y[index[i, 0], …, index[i, k-1]] =
/// src[i] for index (I…, k). Negative positions count from the end. A reduction combines the old slice of a place with
/// all slices for it. For repeated tuples and gradients see index_copy and index_reduce.
CRISOL_API Tensor scatter_nd(const Tensor& x, const Tensor& index, const Tensor& src,
                             std::optional<ScatterReduction> reduction = std::nullopt);

/// The elements of x along an axis at the positions of index, NumPy's take_along_axis. For axis 1 of rank 3: y[i, j, k]
/// = x[i, index[i, j, k], k]. The other axes broadcast. Negative positions count from the end. Differentiable in x.
CRISOL_API Tensor take_along_axis(const Tensor& x, const Tensor& index, int axis = -1);

/// The slices of x at the positions of index along an axis, NumPy's take. The axes of index replace the axis. Without
/// an axis x counts as a tensor of one axis. Negative positions count from the end. Differentiable in x.
CRISOL_API Tensor take(const Tensor& x, const Tensor& index, std::optional<int> axis = std::nullopt);

/// x[indices[0], indices[1], …] as in NumPy, where an undefined tensor takes a whole axis. Positions are whole
/// numbers, and negative ones count from the end. All tensors of positions broadcast to one shape (I…): element i of
/// the result is x at the positions indices[0][i], indices[1][i], …. The axes I… take the place of the indexed axes if
/// these follow each other, and are the first axes otherwise. A mask (bool) stands for the positions of its true
/// elements. It indexes as many axes as it has, of the same sizes, and the call waits. Differentiable in x.
CRISOL_API Tensor index_get(const Tensor& x, const std::vector<Tensor>& indices);

/// A copy of x in which the elements that index_get(x, indices) reads are replaced by `value`. With `accumulate` the
/// values are added to them. The value broadcasts to the shape of index_get(x, indices), and is cast to the dtype of x.
/// If an element is named more than once, the last value stays, and only this value gets a gradient. Differentiable in
/// x and value. A mask alone with a single value does not wait for the device. Refuses to add to bool.
CRISOL_API Tensor index_put(const Tensor& x, const std::vector<Tensor>& indices, const Operand& value,
                            bool accumulate = false);

/// Looks up rows of a table: weight (V, D) and indices (…) of any shape give (…, D). Row `padding_idx` is looked up
/// like any other row, but gets no gradient. `padding_idx` is in [-V, V). A negative one counts from the end.
CRISOL_API Tensor embedding(const Tensor& weight, const Tensor& indices,
                            std::optional<std::int64_t> padding_idx = std::nullopt);

/// y[…, c] is 1 if indices[…] is c, else 0, for the classes c = 0 … num_classes - 1. An index that is no class is
/// an error. num_classes -1 means the largest index plus one, and the call then waits for the indices. Has no
/// gradient.
CRISOL_API Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1, DType dtype = DType::i64);

}  // namespace crisol
