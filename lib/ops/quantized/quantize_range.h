// Quantises numbers by their range.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// Numbers of u8, their scale and their zero point. A number q means scale (q - zero).
struct RangeQuantized {
  Tensor numbers, scale, zero;
};

/// Quantises x of f32, on a CPU. The range of x, extended to include 0, becomes 0 to 255.
RangeQuantized quantize_range(const Tensor& x);

}  // namespace crisol::ops
