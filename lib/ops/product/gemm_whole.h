// Products of matrices of integers and of f64.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// y = a b for integers of one dtype, whose overflow wraps around, or for f64. `shape` is the shape of y. The leading
/// axes of a and b broadcast to it.
Tensor multiply_whole(const Tensor& a, const Tensor& b, const Shape& shape);

}  // namespace crisol::ops
