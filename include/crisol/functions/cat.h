// Differentiable joining and cutting along an axis. Tensors may have any dtype and strides. A negative axis counts from
// the end. If shapes or axes do not fit, every function throws Error (invalid_argument) with both shapes and the axis.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// Joins tensors one after another along an axis. They must have the same dtype, device and rank, and the same sizes
/// except along the axis.
CRISOL_API Tensor cat(const std::vector<Tensor>& tensors, int axis = 0);

/// Joins tensors of one shape along a new axis. The size of the new axis is the number of tensors.
CRISOL_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);

/// Cuts x along an axis into views of `size` elements. The last view may be smaller.
CRISOL_API std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis = 0);
/// Cuts x along an axis into views of the given sizes. Their sum must be the size of the axis.
CRISOL_API std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis = 0);

/// Cuts x along an axis into at most `chunks` views of ceil(size of the axis / chunks) elements. The last view may be
/// smaller.
CRISOL_API std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis = 0);

}  // namespace crisol
