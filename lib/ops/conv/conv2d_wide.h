// Convolutions of types that no convolution's kernel computes in: f64 and whole numbers. Each is one product of
// matrices.
#pragma once

#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

/// The convolution of x (N, C, H, W) with a weight (K, C/groups, R, S), without a bias.
Tensor wide_conv2d(const Conv2dSizes& sizes, const Tensor& x, const Tensor& weight);
/// The gradient of x.
Tensor wide_conv2d_backward_data(const Conv2dSizes& sizes, const Tensor& dy, const Tensor& weight);
/// The gradient of the weight.
Tensor wide_conv2d_backward_weight(const Conv2dSizes& sizes, const Tensor& dy, const Tensor& x);

}  // namespace crisol::ops
