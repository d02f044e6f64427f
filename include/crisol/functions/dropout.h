// Differentiable dropout. Refuses p outside [0, 1], a dtype without fractions, and a generator on another device.
#pragma once

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol {

/// In training, sets each element of x to 0 with probability p, and divides the others by 1 - p. Otherwise the result
/// is x itself. With p = 1 all elements are 0. The generator determines the dropped elements, the same on every device.
CRISOL_API Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator);
/// The same with the default generator of this thread.
CRISOL_API Tensor dropout(const Tensor& x, double p = 0.5, bool training = true);

}  // namespace crisol
