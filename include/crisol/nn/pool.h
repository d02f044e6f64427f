// Pooling layers.
#pragma once

#include "crisol/nn/module.h"
#include "crisol/options/pool.h"

namespace crisol::nn {

/// max_pool2d(x, options): the largest element of each window. `MaxPool2d(2)` halves both sizes.
class CRISOL_API MaxPool2d : public Module {
 public:
  /// A window of the size `kernel`, with settings by name: `MaxPool2d(3, {.stride = 2, .padding = 1})`. By default the
  /// stride is the size of the window. Throws invalid_argument if the options contain another kernel.
  explicit MaxPool2d(IntPair kernel, const MaxPool2dOptions& options = {});
  /// All options by name. It is a template so that `MaxPool2d({2, 3})` calls the constructor above.
  template <class = void>
  explicit MaxPool2d(const MaxPool2dOptions& options) : options_(options) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The options, with the kernel.
  const MaxPool2dOptions& options() const noexcept { return options_; }

 private:
  MaxPool2dOptions options_;
};

/// avg_pool2d(x, options): the mean of each window. `AvgPool2d(2)` halves both sizes.
class CRISOL_API AvgPool2d : public Module {
 public:
  /// Like the constructor of MaxPool2d.
  explicit AvgPool2d(IntPair kernel, const AvgPool2dOptions& options = {});
  /// All options by name. It is a template so that `AvgPool2d({2, 3})` calls the constructor above.
  template <class = void>
  explicit AvgPool2d(const AvgPool2dOptions& options) : options_(options) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The options, with the kernel.
  const AvgPool2dOptions& options() const noexcept { return options_; }

 private:
  AvgPool2dOptions options_;
};

/// adaptive_avg_pool2d(x, output): means over output.h × output.w windows that divide the image.
class CRISOL_API AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(IntPair output) : output_(output) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The sizes of the output.
  IntPair output() const noexcept { return output_; }

 private:
  IntPair output_;
};

/// max_pool3d(x, options): the largest element of each window. `MaxPool3d({1, 2, 2})` halves height and width.
class CRISOL_API MaxPool3d : public Module {
 public:
  /// Kernel and options as in the first constructor of MaxPool2d.
  explicit MaxPool3d(IntTriple kernel, const MaxPool3dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The options, with the kernel.
  const MaxPool3dOptions& options() const noexcept { return options_; }

 private:
  MaxPool3dOptions options_;
};

/// avg_pool3d(x, options): the mean of each window.
class CRISOL_API AvgPool3d : public Module {
 public:
  /// Kernel and options as in the first constructor of MaxPool2d.
  explicit AvgPool3d(IntTriple kernel, const AvgPool3dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The options, with the kernel.
  const AvgPool3dOptions& options() const noexcept { return options_; }

 private:
  AvgPool3dOptions options_;
};

/// adaptive_avg_pool3d(x, output): means over windows that divide the volume.
class CRISOL_API AdaptiveAvgPool3d : public Module {
 public:
  explicit AdaptiveAvgPool3d(IntTriple output) : output_(output) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The sizes of the output.
  IntTriple output() const noexcept { return output_; }

 private:
  IntTriple output_;
};

}  // namespace crisol::nn
