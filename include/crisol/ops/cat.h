// Joining and cutting tensors along an axis, without autograd. The differentiable functions of the same names are in
// crisol/functions/cat.h. Tensors may have any dtype and strides. A negative axis counts from the end. If shapes or
// axes do not fit, every function throws Error (invalid_argument) with both shapes and the axis, and leaves all tensors
// unchanged.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Joins tensors one after another along an axis. They must have the same dtype, device and rank, and the same sizes
/// except along the axis.
CRISOL_API Tensor cat(const std::vector<Tensor>& tensors, int axis = 0);
CRISOL_API void cat_into(const Tensor& out, const std::vector<Tensor>& tensors, int axis = 0);

/// Joins tensors of one shape along a new axis. The size of the new axis is the number of tensors.
CRISOL_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);
CRISOL_API void stack_into(const Tensor& out, const std::vector<Tensor>& tensors, int axis = 0);

/// Cuts x along an axis into views of `size` elements. The last view may be smaller. There is at least one view.
CRISOL_API std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis = 0);
/// Cuts x along an axis into views of the given sizes. Their sum must be the size of the axis.
CRISOL_API std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis = 0);

/// Cuts x along an axis into at most `chunks` views of ceil(size / chunks) elements. The last view may be smaller.
/// There are fewer views if the elements do not suffice, as in PyTorch.
CRISOL_API std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis = 0);

/// The sizes of the views that split returns.
CRISOL_API std::vector<std::int64_t> split_sizes(const Tensor& x, std::int64_t size, int axis);
/// The sizes of the views that chunk returns.
CRISOL_API std::vector<std::int64_t> chunk_sizes(const Tensor& x, std::int64_t chunks, int axis);

}  // namespace crisol::ops
