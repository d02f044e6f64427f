// Pooling layers.
#pragma once

#include "crisol/nn/module.h"
#include "crisol/ops/pool.h"

namespace crisol::nn {

/// max_pool2d(x, options); `MaxPool2d({2})` halves both sizes.
class CRISOL_API MaxPool2d : public Module {
 public:
  explicit MaxPool2d(const MaxPool2dOptions& options) : options_(options) {}
  Tensor forward(const Tensor& x) override;

 private:
  MaxPool2dOptions options_;
};

/// avg_pool2d(x, options).
class CRISOL_API AvgPool2d : public Module {
 public:
  explicit AvgPool2d(const AvgPool2dOptions& options) : options_(options) {}
  Tensor forward(const Tensor& x) override;

 private:
  AvgPool2dOptions options_;
};

/// adaptive_avg_pool2d(x, output): means over windows that divide the image into output.h × output.w.
class CRISOL_API AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(IntPair output) : output_(output) {}
  Tensor forward(const Tensor& x) override;

 private:
  IntPair output_;
};

}  // namespace crisol::nn
