// Bounds for gradients, between backward() and step().
#pragma once

#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Scales the gradients of the parameters so that the Euclidean norm of all together is at most max_norm: factor
/// min(1, max_norm / (norm + 1e-6)). Returns the norm before, as a tensor without axes; nothing waits. Parameters
/// without a gradient are passed over; throws invalid_argument when none has one or max_norm is not positive.
/// `optimizer.parameters()` names the parameters of all groups.
CRISOL_API Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

/// Brings every element of the gradients into [-clip_value, clip_value]; NaN stays. Parameters without a gradient are
/// passed over; throws invalid_argument when none has one or clip_value is not positive.
CRISOL_API void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace crisol::optim
