// Exact storage of doubles in a state dict, which has no f64.
#pragma once

#include "crisol/tensor.h"

namespace crisol::optim {

/// Three f32 numbers whose sum in double is the value. Each holds 24 bits of the 53 bits.
Tensor exact_tensor(double value, Device device);
double exact_value(const Tensor& tensor);

}  // namespace crisol::optim
