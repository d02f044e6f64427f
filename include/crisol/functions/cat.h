// Differentiable joining and cutting along an axis. Rules and errors are those of the raw ops in crisol/ops/cat.h.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// The tensors one after another along an axis.
CRISOL_API Tensor cat(const std::vector<Tensor>& tensors, int axis = 0);

/// Tensors of one shape along a new axis.
CRISOL_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);

/// Views of `size` elements each along an axis; the last may be smaller.
CRISOL_API std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis = 0);
/// Views of these sizes, which must add up to the axis.
CRISOL_API std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis = 0);

/// At most `chunks` views of equal size along an axis; the last may be smaller.
CRISOL_API std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis = 0);

}  // namespace crisol
