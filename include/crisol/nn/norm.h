// Normalisation layers.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"
#include "crisol/options/norm.h"

namespace crisol::nn {

/// PyTorch's options of BatchNorm2d.
struct BatchNorm2dOptions {
  double eps = 1e-5;                ///< Added to the variance.
  double momentum = 0.1;            ///< Share of the batch's statistics in the running ones.
  bool affine = true;               ///< Has weight and bias.
  bool track_running_stats = true;  ///< Keeps running statistics and uses them in eval(); else always the batch's.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias for each of `num_features` channels of x (N, C, H, W): the batch's
/// mean and biased variance in training, the running ones after eval(). Parameters weight (1 at first) and bias (0);
/// buffers running_mean (0), running_var (1) and num_batches_tracked (i64), as PyTorch's.
class CRISOL_API BatchNorm2d : public Module {
 public:
  explicit BatchNorm2d(std::int64_t num_features, const BatchNorm2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// The result through an epilogue: in one pass with it after eval() and without gradients. Hooks see the result
  /// without the epilogue.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  std::string extra_repr() const override;

  Parameter weight;            ///< (num_features); undefined unless affine.
  Parameter bias;              ///< (num_features); undefined unless affine.
  Buffer running_mean;         ///< (num_features); undefined unless track_running_stats.
  Buffer running_var;          ///< The same of the unbiased variances.
  Buffer num_batches_tracked;  ///< i64 (): batches seen in training.

 private:
  BatchNormOptions call_options() const;
  void count_batch();

  std::int64_t num_features_;
  BatchNorm2dOptions options_;
  std::int64_t batches_ = 0;
  Tensor counted_;                     ///< The memory that batches_ was written to,
  std::uint64_t counted_version_ = 0;  ///< and its version then.
};

/// PyTorch's options of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;   ///< Added to the variance.
  bool affine = true;  ///< Has weight and bias.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias over the last axes of x, whose sizes are `normalized_shape`.
/// Parameters weight (1 at first) and bias (0) of that shape.
class CRISOL_API LayerNorm : public Module {
 public:
  explicit LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  Parameter weight;  ///< normalized_shape; undefined unless affine.
  Parameter bias;    ///< normalized_shape; undefined unless affine.

 private:
  Shape normalized_shape_;
  double eps_;
};

}  // namespace crisol::nn
