// Functions of bytes as tables of their 256 values.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

/// All bytes of u8 or i8, in the order of a table: 0 to 255, or 0 to 127 and -128 to -1.
Tensor all_bytes(DType dtype, Device device);

/// y[i] = table[x[i]] for x of u8 or i8, and for a table of 256 elements of any type, in the order of all_bytes.
Tensor look_up_bytes(const Tensor& table, const Tensor& x);

}  // namespace crisol::ops
