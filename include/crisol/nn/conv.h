// Convolution layers.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"
#include "crisol/options/conv.h"

namespace crisol::nn {

/// y = conv2d(x, weight, bias, options). x is (N, in_channels, H, W), and y (N, out_channels, H', W'). weight and bias
/// start uniform in [-b, b) with b = 1 / sqrt(in_channels/groups · kernel.h · kernel.w), as in PyTorch.
///
///     nn::Conv2d conv(3, 64, 3, {.stride = 2, .padding = 1, .bias = false});
class CRISOL_API Conv2d : public Module {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel, const Conv2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// forward(x) and then an epilogue, such as relu_epilogue(), in one kernel if possible. If the layer has hooks, there
  /// are two kernels, because hooks see the result before the epilogue.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  std::string extra_repr() const override;
  /// The options of the constructor.
  const Conv2dOptions& options() const noexcept { return options_; }
  /// The channels of the input.
  std::int64_t in_channels() const { return weight.size(1) * options_.groups; }
  /// The channels of the output.
  std::int64_t out_channels() const { return weight.size(0); }

  Parameter weight;  ///< (out_channels, in_channels / groups, kernel.h, kernel.w)
  Parameter bias;    ///< (out_channels); undefined without bias.

 private:
  Conv2dOptions options_;
};

/// y = conv_transpose2d(x, weight, bias, options). x is (N, in_channels, H, W), and y (N, out_channels, H', W'). weight
/// and bias start uniform in [-b, b) with b = 1 / sqrt(out_channels/groups · kernel.h · kernel.w), as in PyTorch.
///
///     nn::ConvTranspose2d up(64, 32, 2, {.stride = 2});  // Doubles height and width.
class CRISOL_API ConvTranspose2d : public Module {
 public:
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, IntPair kernel,
                  const ConvTranspose2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /// The output with this size (H', W'), which may also name all axes. Each output_padding below the stride gives
  /// another size. Throws if none of them gives this one.
  Tensor forward(const Tensor& x, const Shape& output_size);
  std::string extra_repr() const override;
  /// The options of the constructor.
  const ConvTranspose2dOptions& options() const noexcept { return options_; }
  /// The channels of the input.
  std::int64_t in_channels() const { return weight.size(0); }
  /// The channels of the output.
  std::int64_t out_channels() const { return weight.size(1) * options_.groups; }

  Parameter weight;  ///< (in_channels, out_channels / groups, kernel.h, kernel.w)
  Parameter bias;    ///< (out_channels); undefined without bias.

 private:
  ConvTranspose2dOptions options_;
};

/// y = conv1d(x, weight, bias, options). x is (N, in_channels, L), and y (N, out_channels, L'). weight and bias start
/// uniform in [-b, b) with b = 1 / sqrt(in_channels/groups · kernel), as in PyTorch.
///
///     nn::Conv1d conv(80, 512, 3, {.padding = 1});
class CRISOL_API Conv1d : public Module {
 public:
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, int kernel, const Conv1dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// As in Conv2d: forward(x) and then an epilogue, in one kernel if possible.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  std::string extra_repr() const override;
  /// The options of the constructor.
  const Conv1dOptions& options() const noexcept { return options_; }
  /// The channels of the input.
  std::int64_t in_channels() const { return weight.size(1) * options_.groups; }
  /// The channels of the output.
  std::int64_t out_channels() const { return weight.size(0); }

  Parameter weight;  ///< (out_channels, in_channels / groups, kernel)
  Parameter bias;    ///< (out_channels); undefined without bias.

 private:
  Conv1dOptions options_;
};

/// y = conv_transpose1d(x, weight, bias, options). x is (N, in_channels, L), and y (N, out_channels, L'). weight and
/// bias start uniform in [-b, b) with b = 1 / sqrt(out_channels/groups · kernel), as in PyTorch.
class CRISOL_API ConvTranspose1d : public Module {
 public:
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, int kernel,
                  const ConvTranspose1dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /// The output with this size (L'), which may also name all axes. Each output_padding below the stride gives
  /// another size. Throws if none of them gives this one.
  Tensor forward(const Tensor& x, const Shape& output_size);
  std::string extra_repr() const override;
  /// The options of the constructor.
  const ConvTranspose1dOptions& options() const noexcept { return options_; }
  /// The channels of the input.
  std::int64_t in_channels() const { return weight.size(0); }
  /// The channels of the output.
  std::int64_t out_channels() const { return weight.size(1) * options_.groups; }

  Parameter weight;  ///< (in_channels, out_channels / groups, kernel)
  Parameter bias;    ///< (out_channels); undefined without bias.

 private:
  ConvTranspose1dOptions options_;
};

/// y = conv3d(x, weight, bias, options). x is (N, in_channels, D, H, W), and y (N, out_channels, D', H', W'). weight
/// and bias start uniform in [-b, b) with b = 1 / sqrt(in_channels/groups · kernel.d · kernel.h · kernel.w), as in
/// PyTorch.
///
///     nn::Conv3d conv(3, 64, {3, 7, 7}, {.stride = {1, 2, 2}, .padding = {1, 3, 3}, .bias = false});
class CRISOL_API Conv3d : public Module {
 public:
  Conv3d(std::int64_t in_channels, std::int64_t out_channels, IntTriple kernel, const Conv3dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The options of the constructor.
  const Conv3dOptions& options() const noexcept { return options_; }
  /// The channels of the input.
  std::int64_t in_channels() const { return weight.size(1) * options_.groups; }
  /// The channels of the output.
  std::int64_t out_channels() const { return weight.size(0); }

  Parameter weight;  ///< (out_channels, in_channels / groups, kernel.d, kernel.h, kernel.w)
  Parameter bias;    ///< (out_channels); undefined without bias.

 private:
  Conv3dOptions options_;
};

/// y = conv_transpose3d(x, weight, bias, options). x is (N, in_channels, D, H, W), and y (N, out_channels, D', H', W').
/// weight and bias start uniform in [-b, b) with b = 1 / sqrt(out_channels/groups · kernel.d · kernel.h · kernel.w), as
/// in PyTorch.
class CRISOL_API ConvTranspose3d : public Module {
 public:
  ConvTranspose3d(std::int64_t in_channels, std::int64_t out_channels, IntTriple kernel,
                  const ConvTranspose3dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /// The output with this size (D', H', W'), which may also name all axes. Each output_padding below the stride gives
  /// another size. Throws if none of them gives this one.
  Tensor forward(const Tensor& x, const Shape& output_size);
  std::string extra_repr() const override;
  /// The options of the constructor.
  const ConvTranspose3dOptions& options() const noexcept { return options_; }
  /// The channels of the input.
  std::int64_t in_channels() const { return weight.size(0); }
  /// The channels of the output.
  std::int64_t out_channels() const { return weight.size(1) * options_.groups; }

  Parameter weight;  ///< (in_channels, out_channels / groups, kernel.d, kernel.h, kernel.w)
  Parameter bias;    ///< (out_channels); undefined without bias.

 private:
  ConvTranspose3dOptions options_;
};

}  // namespace crisol::nn
