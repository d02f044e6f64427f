// Fully connected layer.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"

namespace crisol::nn {

/// y = x · weightᵀ + bias; x (…, in_features), y (…, out_features), weight (out_features, in_features), bias
/// (out_features). First values of both: uniform in [-1/sqrt(in_features), 1/sqrt(in_features)), as PyTorch's.
class CRISOL_API Linear : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias = true);
  Tensor forward(const Tensor& x) override;
  /// The result through an epilogue, in one kernel where it can be: relu_epilogue(), …
  Tensor forward(const Tensor& x, const Epilogue& epilogue);

  Tensor weight;  ///< (out_features, in_features)
  Tensor bias;    ///< Undefined without bias.
};

}  // namespace crisol::nn
