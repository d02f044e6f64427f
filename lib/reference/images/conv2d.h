// Convolution by plain loops in double. All values are contiguous:
//
//     images    x (N, C, H, W)      weight (K, C/groups, R, S)      y (N, K, H', W')
//     volumes   x (N, C, D, H, W)   weight (K, C/groups, Q, R, S)   y (N, K, D', H', W')
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

Shape conv3d_shape(const Shape& x, const Shape& weight, const Conv3dOptions& options);

/// `bias` may be empty.
std::vector<double> conv3d(const std::vector<double>& x, const Shape& x_shape, const std::vector<double>& weight,
                           const Shape& weight_shape, const std::vector<double>& bias, const Conv3dOptions& options);

std::vector<double> conv3d_backward_data(const std::vector<double>& dy, const std::vector<double>& weight,
                                         const Shape& weight_shape, const Shape& x_shape, const Conv3dOptions& options);

std::vector<double> conv3d_backward_weight(const std::vector<double>& dy, const std::vector<double>& x,
                                           const Shape& x_shape, const Shape& weight_shape,
                                           const Conv3dOptions& options);

}  // namespace crisol::reference
