// Differentiable dropout. Rules and errors are those of the raw op in crisol/ops/dropout.h.
#pragma once

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol {

/// In training each element of x is 0 with probability p, else x / (1 - p); otherwise the result is x itself. p outside
/// [0, 1] is refused in either case.
CRISOL_API Tensor dropout(const Tensor& x, double p, bool training, const Generator& generator);
/// The same with this thread's default generator.
CRISOL_API Tensor dropout(const Tensor& x, double p = 0.5, bool training = true);

}  // namespace crisol
