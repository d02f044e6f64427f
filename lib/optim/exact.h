// Doubles in a state dict, which has no f64.
#pragma once

#include "crisol/tensor.h"

namespace crisol::optim {

/// Three f32 whose sum in double is the value: 24 bits of its 53 in each.
Tensor exact_tensor(double value, Device device);
double exact_value(const Tensor& tensor);

}  // namespace crisol::optim
