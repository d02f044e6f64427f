// Differentiable ordering: the gradient of a value goes to the element that it was. Rules and errors are those of the
// raw ops in crisol/ops/sort.h.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol {

/// The elements along an axis in order, and their indices; equal ones stay in order.
CRISOL_API SortResult sort(const Tensor& x, int axis = -1, bool descending = false);

/// The indices of sort; has no gradient.
CRISOL_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);

/// The k largest (or smallest) elements along an axis, in order, and their indices.
CRISOL_API SortResult topk(const Tensor& x, std::int64_t k, int axis = -1, bool largest = true);

}  // namespace crisol
