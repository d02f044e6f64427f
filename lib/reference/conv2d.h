// Convolution by plain loops in double. All values are contiguous: x (N, C, H, W), weight (K, C/groups, R, S), y (N, K,
// H', W').
#pragma once

#include <vector>

#include "crisol/ops/conv.h"
#include "crisol/shape.h"

namespace crisol::reference {

Shape conv2d_shape(const Shape& x, const Shape& weight, const Conv2dOptions& options);

/// `bias` may be empty.
std::vector<double> conv2d(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
                           const Shape& weight_shape, const std::vector<double>& bias, const Conv2dOptions& options);

std::vector<double> conv2d_backward_data(const std::vector<double>& dy, const std::vector<double>& weight,
                                         const Shape& weight_shape, const Shape& x_shape, const Conv2dOptions& options);

std::vector<double> conv2d_backward_weight(const std::vector<double>& dy, const std::vector<double>& x,
                                           const Shape& x_shape, const Shape& weight_shape,
                                           const Conv2dOptions& options);

}  // namespace crisol::reference
