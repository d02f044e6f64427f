// Products of matrices of whole numbers.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// y = a b for whole numbers of one dtype, exact modulo its size. `shape` is the shape of y, and the leading axes of a
/// and b broadcast to it.
Tensor multiply_whole(const Tensor& a, const Tensor& b, const Shape& shape);

}  // namespace crisol::ops
