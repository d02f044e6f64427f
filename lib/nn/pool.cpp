#include "crisol/nn/pool.h"

#include "crisol/functions/pool.h"

namespace crisol::nn {

Tensor MaxPool2d::forward(const Tensor& x) { return max_pool2d(x, options_); }
Tensor AvgPool2d::forward(const Tensor& x) { return avg_pool2d(x, options_); }
Tensor AdaptiveAvgPool2d::forward(const Tensor& x) { return adaptive_avg_pool2d(x, output_); }

}  // namespace crisol::nn
