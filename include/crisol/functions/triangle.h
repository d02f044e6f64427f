// Differentiable triangles of matrices. Rules and errors are those of the raw ops in crisol/ops/triangle.h.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol {

/// x (…, R, C) with zeros where column - row > diagonal.
CRISOL_API Tensor tril(const Tensor& x, std::int64_t diagonal = 0);

/// x (…, R, C) with zeros where column - row < diagonal.
CRISOL_API Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace crisol
