// Differentiable padding with a constant. Rules and errors are those of the raw op in crisol/ops/pad.h.
#pragma once

#include <vector>

#include "crisol/options/pad.h"
#include "crisol/tensor.h"

namespace crisol {

/// A copy of x with elements of `value` around; paddings[0] is the last axis, paddings[1] the one before it (PyTorch's
/// order, in pairs). Negative paddings crop.
CRISOL_API Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value = 0);

}  // namespace crisol
