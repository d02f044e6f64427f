// Differentiable normalisations, with gradients for x, weight and bias. x is f32, f16 or f64. All other tensors
// are f32, or all have x's type. Errors (invalid_argument): shapes, dtypes or devices that do not fit, and options
// outside their range.
#pragma once

#include <optional>

#include "crisol/fuse.h"
#include "crisol/options/norm.h"
#include "crisol/tensor.h"

namespace crisol {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel of x (N, C) or (N, C, …), as in PyTorch. In
/// training, mean and (biased) variance are computed from the batch. running_mean and running_var, if defined, then
/// become (1 - momentum) old + momentum new, with the unbiased variance. Outside training, the running statistics are
/// the mean and the variance, and do not change.
///
/// weight and bias may be undefined, which means 1 and 0. The running statistics may be undefined in training only, and
/// then both. All have the shape (C). Refuses one value per channel in training.
CRISOL_API Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                               const Tensor& running_var, const BatchNormOptions& options = {});

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes of x. normalized_shape has rank 1 or more
/// and must be the sizes of these axes. The variance is biased. weight and bias have this shape, or are undefined,
/// which means 1 and 0. Refuses epsilon < 0.
CRISOL_API Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = Tensor(),
                             const Tensor& bias = Tensor(), double epsilon = 1e-5);

/// (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel of each instance of x (N, C, …), as PyTorch's
/// instance_norm. In training, mean and (biased) variance are computed from the channel's elements. Running statistics,
/// if defined, are then updated as in batch_norm2d, with the means over the instances. Outside training it is
/// batch_norm2d. weight, bias and running statistics are as in batch_norm2d. Refuses one element per channel in
/// training.
CRISOL_API Tensor instance_norm(const Tensor& x, const Tensor& weight = Tensor(), const Tensor& bias = Tensor(),
                                const Tensor& running_mean = Tensor(), const Tensor& running_var = Tensor(),
                                const BatchNormOptions& options = {});

/// x / sqrt(mean(x²) + epsilon) * weight over the last axes of x, as PyTorch's rms_norm. normalized_shape has rank 1 or
/// more and must be the sizes of these axes. weight has this shape, or is undefined, which means 1. Without an epsilon
/// it is the distance of 1 to the next number of the type of x. f16 and bf16 are computed in f32.
CRISOL_API Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = Tensor(),
                           std::optional<double> epsilon = std::nullopt);

/// (x - mean) / sqrt(variance + epsilon) * weight + bias, as PyTorch's group_norm. The C channels of x (N, C, …) form
/// num_groups groups of neighbours, and C must be a multiple of num_groups. Mean and (biased) variance are computed for
/// each group of an instance. weight and bias have the shape (C), or are undefined, which means 1 and 0. They are
/// applied in a separate pass. Refuses epsilon < 0.
CRISOL_API Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight = Tensor(),
                             const Tensor& bias = Tensor(), double epsilon = 1e-5);

/// f(batch_norm2d(…), …) for a fused function f: see Epilogue. With running statistics and without gradients it is one
/// pass over x. Otherwise f runs as a separate kernel after the normalisation.
CRISOL_API Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                               const Tensor& running_var, const BatchNormOptions& options, const Epilogue& epilogue);

/// f(layer_norm(…), …) for a fused function f: see Epilogue. f runs as a separate kernel after the normalisation.
CRISOL_API Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                             double epsilon, const Epilogue& epilogue);

}  // namespace crisol
