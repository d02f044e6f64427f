// Raw triangles of matrices, not recorded by autograd.
#pragma once

#include <cstdint>

#include "crisol/tensor.h"

namespace crisol::ops {

/// A copy of x (…, R, C) with zeros above the given diagonal: where column - row > diagonal. Any dtype and strides. The
/// result is contiguous. Throws invalid_argument for an undefined x and a rank below 2.
CRISOL_API Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
CRISOL_API void tril_into(const Tensor& out, const Tensor& x, std::int64_t diagonal = 0);

/// A copy of x (…, R, C) with zeros below the given diagonal: where column - row < diagonal.
CRISOL_API Tensor triu(const Tensor& x, std::int64_t diagonal = 0);
CRISOL_API void triu_into(const Tensor& out, const Tensor& x, std::int64_t diagonal = 0);

}  // namespace crisol::ops
