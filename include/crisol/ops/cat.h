// Joining and cutting tensors along an axis, without autograd. The differentiable functions of the same names are in
// crisol/functions/cat.h. Any dtype and strides; axes count from -1 backwards too. Every function throws Error
// (invalid_argument) with both shapes and the axis for what does not fit, and leaves all tensors as they were.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The tensors one after another along an axis: the same dtype, device and rank, and the same sizes but along the axis.
CRISOL_API Tensor cat(const std::vector<Tensor>& tensors, int axis = 0);

/// Tensors of one shape along a new axis: the result has their number there.
CRISOL_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);

/// Views of `size` elements each along an axis; the last may be smaller. At least one view.
CRISOL_API std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis = 0);
/// Views of these sizes, which must add up to the axis.
CRISOL_API std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis = 0);

/// At most `chunks` views of ceil(size / chunks) elements along an axis; the last may be smaller, and there are fewer
/// where the elements run out (as in PyTorch).
CRISOL_API std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis = 0);

/// The sizes that split cuts into.
CRISOL_API std::vector<std::int64_t> split_sizes(const Tensor& x, std::int64_t size, int axis);
/// The sizes that chunk cuts into.
CRISOL_API std::vector<std::int64_t> chunk_sizes(const Tensor& x, std::int64_t chunks, int axis);

}  // namespace crisol::ops
