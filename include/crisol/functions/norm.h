// Differentiable normalisation, with gradients for x, weight and bias.
#pragma once

#include "crisol/ops/norm.h"

namespace crisol {

/// ops::batch_norm2d: per channel of x (N, C, …).
CRISOL_API Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                               const Tensor& running_var, const BatchNormOptions& options = {});

/// ops::layer_norm: over the last axes of x.
CRISOL_API Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = Tensor(),
                             const Tensor& bias = Tensor(), double epsilon = 1e-5);

}  // namespace crisol
