// Differentiable convolution.
#pragma once

#include "crisol/ops/conv.h"

namespace crisol {

/// ops::conv2d with gradients for x, weight and bias.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv2dOptions& options = {});

}  // namespace crisol
