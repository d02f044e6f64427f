// Fully connected layer.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"

namespace crisol::nn {

/// Settings of Linear.
struct LinearOptions {
  bool bias = true;  ///< Has a bias.
};

/// y = x · weightᵀ + bias; x (…, in_features), y (…, out_features), weight (out_features, in_features), bias
/// (out_features). First values of both: uniform in [-1/sqrt(in_features), 1/sqrt(in_features)), as PyTorch's.
class CRISOL_API Linear : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {});
  /// Linear(in_features, out_features, {.bias = with_bias}).
  Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias)
      : Linear(in_features, out_features, LinearOptions{with_bias}) {}
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// The result through an epilogue, in one kernel where it can be: relu_epilogue(), … With hooks, which see the result
  /// without the epilogue, there are two kernels.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  std::string extra_repr() const override;

  Parameter weight;  ///< (out_features, in_features)
  Parameter bias;    ///< Undefined without bias.
};

}  // namespace crisol::nn
