// Pooling by plain loops in double. Images have the shape (N, C, H, W). Volumes have the shape (N, C, D, H, W).
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/ops/pool.h"
#include "crisol/shape.h"

namespace crisol::reference {

/// The number of outputs along one axis.
std::int64_t pool_count(std::int64_t size, int kernel, int stride, int padding, int dilation, bool ceil_mode);

struct MaxPool {
  Shape shape;
  std::vector<double> values;
  std::vector<double> indices;  ///< The positions in the image or volume. -1 for a window without elements.
};

MaxPool max_pool2d(const std::vector<double>& x, const Shape& shape, const MaxPool2dOptions& options);
std::vector<double> max_pool2d_backward(const std::vector<double>& dy, const MaxPool& forward, const Shape& input);

struct AvgPool {
  Shape shape;
  std::vector<double> values;
};

AvgPool avg_pool2d(const std::vector<double>& x, const Shape& shape, const AvgPool2dOptions& options);
std::vector<double> avg_pool2d_backward(const std::vector<double>& dy, const Shape& input,
                                        const AvgPool2dOptions& options);

AvgPool adaptive_avg_pool2d(const std::vector<double>& x, const Shape& shape, IntPair output);
std::vector<double> adaptive_avg_pool2d_backward(const std::vector<double>& dy, const Shape& input, IntPair output);

MaxPool max_pool3d(const std::vector<double>& x, const Shape& shape, const MaxPool3dOptions& options);

AvgPool avg_pool3d(const std::vector<double>& x, const Shape& shape, const AvgPool3dOptions& options);
std::vector<double> avg_pool3d_backward(const std::vector<double>& dy, const Shape& input,
                                        const AvgPool3dOptions& options);

AvgPool adaptive_avg_pool3d(const std::vector<double>& x, const Shape& shape, IntTriple output);

}  // namespace crisol::reference
