// Fully connected layer.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"

namespace crisol::nn {

/// Settings of Linear.
struct LinearOptions {
  bool bias = true;  ///< Adds a bias.
};

/// y = x · weightᵀ + bias. x is (…, in_features), and y (…, out_features). weight and bias start uniform in
/// [-1/sqrt(in_features), 1/sqrt(in_features)), as in PyTorch.
class CRISOL_API Linear : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {});
  /// Linear(in_features, out_features, {.bias = with_bias}).
  Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias)
      : Linear(in_features, out_features, LinearOptions{with_bias}) {}
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// forward(x) and then an epilogue, such as relu_epilogue(), in one kernel if possible. If the layer has hooks, there
  /// are two kernels, because hooks see the result before the epilogue.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  std::string extra_repr() const override;
  /// The number of inputs.
  std::int64_t in_features() const { return weight.size(1); }
  /// The number of outputs.
  std::int64_t out_features() const { return weight.size(0); }

  Parameter weight;  ///< (out_features, in_features)
  Parameter bias;    ///< (out_features); undefined without bias.
};

}  // namespace crisol::nn
