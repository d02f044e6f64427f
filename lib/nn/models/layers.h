// Layers with the initial values that torchvision's networks have.
#pragma once

#include "crisol/grad_mode.h"
#include "crisol/nn/conv.h"
#include "crisol/nn/init.h"
#include "crisol/nn/linear.h"

namespace crisol::nn::models {

/// Weights from a normal distribution with variance 2 / fan_out (He et al. 2015), biases 0.
inline Conv2d conv(std::int64_t inputs, std::int64_t outputs, IntPair kernel, const Conv2dOptions& options) {
  Conv2d layer(inputs, outputs, kernel, options);
  const NoGrad no_grad;
  init::kaiming_normal_(layer.weight, 0, init::Fan::out);
  if (options.bias) layer.bias.zero_();
  return layer;
}

/// Weights from a normal distribution with standard deviation 0.01, biases 0.
inline Linear linear(std::int64_t inputs, std::int64_t outputs) {
  Linear layer(inputs, outputs);
  const NoGrad no_grad;
  init::normal_(layer.weight, 0, 0.01);
  layer.bias.zero_();
  return layer;
}

}  // namespace crisol::nn::models
