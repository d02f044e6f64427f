// Differentiable triangles of matrices. Any dtype and strides. Errors (invalid_argument): an undefined tensor, a rank
// below 2.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol {

/// A copy of x (…, R, C) with zeros above the given diagonal: where column - row > diagonal.
CRISOL_API Tensor tril(const Tensor& x, std::int64_t diagonal = 0);

/// A copy of x (…, R, C) with zeros below the given diagonal: where column - row < diagonal.
CRISOL_API Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace crisol
