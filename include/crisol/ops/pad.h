// Padding with a constant, without autograd. The differentiable function of the same name is in crisol/functions/pad.h.
#pragma once

#include <vector>

#include "crisol/export.h"
#include "crisol/options/pad.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// A contiguous copy with elements of `value` around. paddings[0] is the last axis, paddings[1] the one before it, and
/// so on: PyTorch's order, in pairs. Any dtype and strides. Throws Error (invalid_argument) for more pairs than axes
/// and for an axis from which more is cut off than it has.
CRISOL_API Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value = 0);

}  // namespace crisol::ops
