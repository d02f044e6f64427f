// Limits for gradients. Call these functions between backward() and step().
#pragma once

#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Scales all gradients of the parameters by min(1, max_norm / (norm + 1e-6)), so that their common Euclidean norm is
/// at most max_norm. Returns the norm before scaling, as a tensor without axes. Nothing waits. Parameters without a
/// gradient are skipped. If no parameter has a gradient, the norm is 0. An infinite max_norm only computes the norm.
/// Throws invalid_argument if max_norm is not positive. `optimizer.parameters()` gives the parameters of all groups.
CRISOL_API Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);
/// The same with another norm: (Σ|g|^norm_type)^(1/norm_type) over all elements. If norm_type is infinite, it is the
/// largest absolute value. With error_if_nonfinite the call waits for the norm. If it is NaN or infinite, the call
/// throws invalid_argument and changes no gradient. Throws invalid_argument for a norm_type that is not positive.
CRISOL_API Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                                 bool error_if_nonfinite = false);

/// Limits every element of the gradients to [-clip_value, clip_value]. NaN stays. Parameters without a gradient are
/// skipped. Throws invalid_argument if clip_value is not positive.
CRISOL_API void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace crisol::optim
