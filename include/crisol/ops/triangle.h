// Raw triangles of matrices. Not recorded by autograd.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// x (…, R, C) with zeros above the given diagonal: elements with column - row > diagonal. Any dtype and strides; the
/// result is contiguous. Throws invalid_argument for an undefined x and a rank below 2.
CRISOL_API Tensor tril(const Tensor& x, std::int64_t diagonal = 0);

/// x (…, R, C) with zeros below the given diagonal: elements with column - row < diagonal.
CRISOL_API Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace crisol::ops
