// Raw padding with a constant, not recorded by autograd. The differentiable function is in crisol/functions/pad.h.
#pragma once

#include <vector>

#include "crisol/export.h"
#include "crisol/options/pad.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// A contiguous copy of x with elements of the given value added at the ends of its axes. paddings[0] belongs to the
/// last axis, paddings[1] to the axis before it, and so on, as in PyTorch. Any dtype and strides. Throws Error
/// (invalid_argument) if there are more paddings than axes, or if negative paddings remove more elements than an axis
/// has.
CRISOL_API Tensor pad(const Tensor& x, const std::vector<AxisPadding>& paddings, double value = 0);
CRISOL_API void pad_into(const Tensor& out, const Tensor& x, const std::vector<AxisPadding>& paddings,
                         double value = 0);

}  // namespace crisol::ops
