// Convolution layer.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"
#include "crisol/options/conv.h"

namespace crisol::nn {

/// y = conv2d(x, weight, bias, options): x (N, in_channels, H, W), weight (out_channels, in_channels/groups, kernel_h,
/// kernel_w), bias (out_channels). First values of both: uniform in [-b, b), b = 1 / sqrt(in_channels/groups · kernel_h
/// · kernel_w), as PyTorch's.
///
///     nn::Conv2d conv(3, 64, 3, {.stride = 2, .padding = 1, .bias = false});
class CRISOL_API Conv2d : public Module {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, const Conv2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// The result through an epilogue, in one kernel where it can be: relu_epilogue(), … With hooks, which see the result
  /// without the epilogue, there are two kernels.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  std::string extra_repr() const override;

  Parameter weight;  ///< (out_channels, in_channels / groups, kernel.h, kernel.w)
  Parameter bias;    ///< Undefined without bias.

 private:
  Conv2dOptions options_;
};

}  // namespace crisol::nn
