// The f32 values of bf16 parameters, kept in 16 more bits for each parameter.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// The f32 values of bf16 numbers with these remainders, which are i16. Both tensors are contiguous and have one shape.
Tensor join_master(const Tensor& values, const Tensor& remainders);
/// Rounds f32 values to bf16, and keeps the bits that this loses. join_master then gives the values back, but a value
/// in the middle of two bf16 numbers has moved by one unit in its last place. All tensors are contiguous and have one
/// shape.
void split_master(const Tensor& master, const Tensor& values, const Tensor& remainders);

}  // namespace crisol::ops
