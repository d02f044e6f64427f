// Differentiable picking and adding by index. Rules and errors, also for indices out of range, are those of the raw ops
// in crisol/ops/index.h.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/tensor.h"

namespace crisol {

/// y[i, j, k] = x[i, index[i, j, k], k] for axis 1, and likewise for other ranks and axes.
CRISOL_API Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// The slices index[0], index[1], … of x along an axis.
CRISOL_API Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// A copy of x with y[i, index[i, j, k], k] += src[i, j, k] for axis 1. Differentiable in x and src.
CRISOL_API Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// A copy of x to whose slice index[j] along an axis slice j of src is added. Differentiable in x and src.
CRISOL_API Tensor index_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

/// Rows of a table: weight (V, D) and indices of any shape (…) give (…, D). Row `padding_idx`, which counts from the
/// end where it is negative, is looked up as any other but gets no gradient; it must lie in [-V, V).
CRISOL_API Tensor embedding(const Tensor& weight, const Tensor& indices,
                            std::optional<std::int64_t> padding_idx = std::nullopt);

/// 1 where indices[…] is c, else 0, along a new last axis; has no gradient.
CRISOL_API Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1, DType dtype = DType::i64);

}  // namespace crisol
