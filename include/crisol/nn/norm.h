// Normalisation layers.
#pragma once

#include <cstdint>
#include <optional>

#include "crisol/fuse.h"
#include "crisol/nn/module.h"
#include "crisol/options/norm.h"

namespace crisol::nn {

/// PyTorch's options of BatchNorm2d.
struct BatchNorm2dOptions {
  double eps = 1e-5;  ///< Added to the variance.
  /// Weight of the batch in the update of the running statistics. Without a value, they average over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;               ///< Has weight and bias.
  bool track_running_stats = true;  ///< Keeps running statistics for eval(). Otherwise always uses the batch's.
  bool bias = true;                 ///< With `affine`: has a bias too.
};

/// The parameters and the running statistics of batch and instance normalisation. Names are PyTorch's.
class CRISOL_API NormBase : public Module {
 public:
  /// The options of the constructor.
  const BatchNorm2dOptions& options() const noexcept { return options_; }
  /// The channels of the inputs.
  std::int64_t num_features() const noexcept { return num_features_; }
  std::string extra_repr() const override;

  Parameter weight;            ///< (num_features), starts as 1; undefined unless affine.
  Parameter bias;              ///< (num_features), starts as 0; undefined unless affine and bias.
  Buffer running_mean;         ///< (num_features), starts as 0; undefined unless track_running_stats.
  Buffer running_var;          ///< (num_features), unbiased, starts as 1; undefined unless track_running_stats.
  Buffer num_batches_tracked;  ///< i64 (): number of batches in training; stays 0 in InstanceNorm, as in PyTorch.

 protected:
  /// `name` is for messages.
  NormBase(const char* name, std::int64_t num_features, const BatchNorm2dOptions& options);
  /// What the options and the layer's mode mean for a call. `momentum` is used if the options have none.
  BatchNormOptions call_options(double momentum) const;
  /// Counts a batch in training, if there are running statistics.
  void count_batch();
  /// The number of batches that were counted. Waits if other code wrote it.
  std::int64_t batches();

 private:
  std::int64_t num_features_;
  BatchNorm2dOptions options_;
  std::int64_t batches_ = 0;
  Tensor counted_;                     ///< The tensor to which batches_ was last written.
  std::uint64_t counted_version_ = 0;  ///< Its version at that time.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias for each channel of x (N, num_features, H, W). In training, mean
/// and var are the mean and biased variance of the batch. After eval() they are the running statistics.
class CRISOL_API BatchNorm2d : public NormBase {
 public:
  explicit BatchNorm2d(std::int64_t num_features, const BatchNorm2dOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  /// forward(x) and then an epilogue. After eval() and without gradients this is one pass over x. Hooks see the result
  /// before the epilogue.
  Tensor operator()(const Tensor& x, const Epilogue& epilogue);

 protected:
  /// The momentum of a call if the options have none: 1 / (number of batches with this one).
  double share_of_batch();
};

/// BatchNorm2d for x (N, num_features) or sequences x (N, num_features, L).
class CRISOL_API BatchNorm1d : public BatchNorm2d {
 public:
  /// Like the constructor of BatchNorm2d.
  explicit BatchNorm1d(std::int64_t num_features, const BatchNorm2dOptions& options = {})
      : BatchNorm2d(num_features, options) {}
};

/// BatchNorm2d for volumes x (N, num_features, D, H, W).
class CRISOL_API BatchNorm3d : public BatchNorm2d {
 public:
  /// Like the constructor of BatchNorm2d.
  explicit BatchNorm3d(std::int64_t num_features, const BatchNorm2dOptions& options = {})
      : BatchNorm2d(num_features, options) {}
};

/// PyTorch's options of InstanceNorm2d.
struct InstanceNormOptions {
  double eps = 1e-5;  ///< Added to the variance.
  /// Weight of the batch in the update of the running statistics. Without a value, they do not change, as in PyTorch.
  std::optional<double> momentum = 0.1;
  bool affine = false;               ///< Has weight and bias.
  bool track_running_stats = false;  ///< Keeps running statistics for eval(). Otherwise always uses the instance's.
  bool bias = true;                  ///< With `affine`: has a bias too.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias for each channel of each image of x (N, num_features, H, W), or of
/// one image (num_features, H, W). mean and biased var are computed from the channel's pixels. If the layer has running
/// statistics, it uses the running statistics after eval().
class CRISOL_API InstanceNorm2d : public NormBase {
 public:
  explicit InstanceNorm2d(std::int64_t num_features, const InstanceNormOptions& options = {});
  Tensor forward(const Tensor& x) override;

 protected:
  /// For instances with another number of axes after the channels.
  InstanceNorm2d(const char* name, int axes, std::int64_t num_features, const InstanceNormOptions& options);

 private:
  const char* name_;
  int axes_;
};

/// InstanceNorm2d for sequences x (N, num_features, L), or one sequence (num_features, L).
class CRISOL_API InstanceNorm1d : public InstanceNorm2d {
 public:
  /// Like the constructor of InstanceNorm2d.
  explicit InstanceNorm1d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm2d("InstanceNorm1d", 1, num_features, options) {}
};

/// InstanceNorm2d for volumes x (N, num_features, D, H, W), or one volume (num_features, D, H, W).
class CRISOL_API InstanceNorm3d : public InstanceNorm2d {
 public:
  /// Like the constructor of InstanceNorm2d.
  explicit InstanceNorm3d(std::int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNorm2d("InstanceNorm3d", 3, num_features, options) {}
};

/// PyTorch's options of LayerNorm and GroupNorm.
struct LayerNormOptions {
  double eps = 1e-5;   ///< Added to the variance.
  bool affine = true;  ///< Has weight and bias.
  bool bias = true;    ///< With `affine`: has a bias too.
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias over the last axes of x, which must have the sizes
/// `normalized_shape`. weight and bias have this shape. They start as 1 and 0.
class CRISOL_API LayerNorm : public Module {
 public:
  explicit LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options = {});
  /// LayerNorm(Shape{size}, options).
  explicit LayerNorm(std::int64_t size, const LayerNormOptions& options = {}) : LayerNorm(Shape{size}, options) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The sizes of the last axes.
  const Shape& normalized_shape() const noexcept { return normalized_shape_; }
  /// What is added to the variance.
  double eps() const noexcept { return eps_; }

  Parameter weight;  ///< normalized_shape; undefined unless affine.
  Parameter bias;    ///< normalized_shape; undefined unless affine and bias.

 private:
  Shape normalized_shape_;
  double eps_;
};

/// y = (x - mean) / sqrt(var + eps) · weight + bias for each instance of x (N, num_channels, …). mean and biased var
/// are computed for each group of num_channels / num_groups neighbouring channels. weight and bias have the shape
/// (num_channels). They start as 1 and 0.
class CRISOL_API GroupNorm : public Module {
 public:
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const LayerNormOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  std::int64_t num_groups() const noexcept { return num_groups_; }      ///< The number of groups.
  std::int64_t num_channels() const noexcept { return num_channels_; }  ///< The channels of the inputs.
  /// What is added to the variance.
  double eps() const noexcept { return eps_; }

  Parameter weight;  ///< (num_channels); undefined unless affine.
  Parameter bias;    ///< (num_channels); undefined unless affine and bias.

 private:
  std::int64_t num_groups_, num_channels_;
  double eps_;
};

/// PyTorch's options of RMSNorm.
struct RMSNormOptions {
  std::optional<double> eps = {};  ///< Added to the mean of the squares. Without a value it depends on the dtype.
  bool affine = true;              ///< Has a weight.
};

/// rms_norm(x, normalized_shape, weight, eps): y = x / sqrt(mean(x²) + eps) · weight over the last axes of x, which
/// must have the sizes `normalized_shape`. The weight starts as 1.
class CRISOL_API RMSNorm : public Module {
 public:
  explicit RMSNorm(const Shape& normalized_shape, const RMSNormOptions& options = {});
  /// RMSNorm(Shape{size}, options).
  explicit RMSNorm(std::int64_t size, const RMSNormOptions& options = {}) : RMSNorm(Shape{size}, options) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The sizes of the last axes.
  const Shape& normalized_shape() const noexcept { return normalized_shape_; }
  /// What is added to the mean of the squares.
  std::optional<double> eps() const noexcept { return eps_; }

  Parameter weight;  ///< normalized_shape; undefined unless affine.

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

}  // namespace crisol::nn
