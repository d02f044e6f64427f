// Normalisation layers.
#pragma once

#include "crisol/fuse.h"
#include "crisol/nn/module.h"
#include "crisol/options/norm.h"

namespace crisol::nn {

/// PyTorch's options of BatchNorm2d.
struct BatchNorm2dOptions {
  double eps = 1e-5;                ///< Added to the variance.
  double momentum = 0.1;            ///< Weight of the batch in the update of the running statistics.
  bool affine = true;               ///< Has weight and bias.
  bool track_running_stats = true;  ///< Keeps running statistics for eval(). Otherwise always uses the batch's.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias for each channel of x (N, num_features, H, W). In training, mean
/// and var are the mean and biased variance of the batch. After eval() they are the running statistics. weight and
/// running_var start as 1; bias, running_mean and num_batches_tracked start as 0. Names are PyTorch's.
class CRISOL_API BatchNorm2d : public Module {
 public:
  explicit BatchNorm2d(std::int64_t num_features, const BatchNorm2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// forward(x) and then an epilogue. After eval() and without gradients this is one pass over x. Hooks see the result
  /// before the epilogue.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);
  /// The options of the constructor.
  const BatchNorm2dOptions& options() const noexcept { return options_; }
  std::string extra_repr() const override;

  Parameter weight;            ///< (num_features); undefined unless affine.
  Parameter bias;              ///< (num_features); undefined unless affine.
  Buffer running_mean;         ///< (num_features); undefined unless track_running_stats.
  Buffer running_var;          ///< (num_features); unbiased variances. Undefined unless track_running_stats.
  Buffer num_batches_tracked;  ///< i64 (): number of batches in training.

 private:
  BatchNormOptions call_options() const;
  void count_batch();

  std::int64_t num_features_;
  BatchNorm2dOptions options_;
  std::int64_t batches_ = 0;
  Tensor counted_;                     ///< The tensor that batches_ was written to.
  std::uint64_t counted_version_ = 0;  ///< Its version at that time.
};

/// BatchNorm2d for volumes x (N, num_features, D, H, W).
class CRISOL_API BatchNorm3d : public BatchNorm2d {
 public:
  /// Like the constructor of BatchNorm2d.
  explicit BatchNorm3d(std::int64_t num_features, const BatchNorm2dOptions& options = {})
      : BatchNorm2d(num_features, options) {}
};

/// PyTorch's options of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;   ///< Added to the variance.
  bool affine = true;  ///< Has weight and bias.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias over the last axes of x, which must have the sizes
/// `normalized_shape`. weight and bias have this shape. They start as 1 and 0.
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
