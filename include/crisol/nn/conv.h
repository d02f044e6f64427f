// Convolution layer.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"
#include "crisol/ops/conv.h"

namespace crisol::nn {

/// y = conv2d(x, weight, bias, options): x (N, in_channels, H, W), weight (out_channels, in_channels/groups, kernel_h,
/// kernel_w), bias (out_channels). First values of both: uniform in [-b, b), b = 1 / sqrt(in_channels/groups · kernel_h
/// · kernel_w), as PyTorch's.
class CRISOL_API Conv2d : public Module {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, const Conv2dOptions& options = {},
         bool with_bias = true);
  Tensor forward(const Tensor& x) override;
  /// The result through an epilogue, in one kernel where it can be: relu_epilogue(), …
  Tensor forward(const Tensor& x, const Epilogue& epilogue);

  Tensor weight;  ///< (out_channels, in_channels / groups, kernel.h, kernel.w)
  Tensor bias;    ///< Undefined without bias.

 private:
  Conv2dOptions options_;
};

}  // namespace crisol::nn
