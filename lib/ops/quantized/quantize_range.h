// Quantises numbers by their range.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// Numbers, their scale and their zero point of u8. A number q means scale (q - zero).
struct RangeQuantized {
  Tensor numbers, scale, zero;
};

/// Quantises x of f32, on a CPU. The range of x, extended to include 0, becomes 0 to 255. The numbers are u8. If
/// `centred`, they are i16, and the zero point is subtracted from them.
RangeQuantized quantize_range(const Tensor& x, bool centred = false);

}  // namespace crisol::ops
