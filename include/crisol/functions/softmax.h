// Differentiable softmax and log-softmax. Rules and errors are those of the raw ops in crisol/ops/softmax.h.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// exp(x) / sum exp(x) along an axis, computed safely.
CRISOL_API Tensor softmax(const Tensor& x, int axis);

/// x - log sum exp(x) along an axis, computed safely.
CRISOL_API Tensor log_softmax(const Tensor& x, int axis);

}  // namespace crisol
