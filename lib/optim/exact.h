// Exact storage of doubles in a state dict, which has no f64.
#pragma once

#include <cstddef>
#include <string>

#include "crisol/optim/optimizer.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Three f32 numbers whose sum in double is the value. Each number holds 24 of the 53 bits.
Tensor exact_tensor(double value, Device device);
double exact_value(const Tensor& tensor);

/// The device of an optimiser's parameters.
Device device_of(const Optimizer& optimizer);

/// The name of a group's setting: "lr" in group 0, "lr.1" in group 1. So a state with one group has plain names.
std::string name_in_group(const char* name, std::size_t group);

}  // namespace crisol::optim
