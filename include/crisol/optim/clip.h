// Limits for gradients. Call these functions between backward() and step().
#pragma once

#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Scales all gradients of the parameters by min(1, max_norm / (norm + 1e-6)), so that their common Euclidean norm is
/// at most max_norm. Returns the norm before scaling, as a tensor without axes. Nothing waits. Parameters without a
/// gradient are skipped. Throws invalid_argument if no parameter has a gradient, or if max_norm is not positive.
/// `optimizer.parameters()` gives the parameters of all groups.
CRISOL_API Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

/// Limits every element of the gradients to [-clip_value, clip_value]. NaN stays. Parameters without a gradient are
/// skipped. Throws invalid_argument if no parameter has a gradient, or if clip_value is not positive.
CRISOL_API void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace crisol::optim
