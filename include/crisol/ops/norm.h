// Raw normalisations, not recorded by autograd.
#pragma once

#include "crisol/options/norm.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The result, and the statistics that backward needs, f32 (C) each.
struct BatchNormResult {
  Tensor y;       ///< In x's shape.
  Tensor mean;    ///< The mean that was subtracted.
  Tensor invstd;  ///< 1 / sqrt(variance + epsilon).
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel of x, (N, C) or (N, C, …), f32 or f16,
/// as in PyTorch.
///
/// In training, mean and (biased) variance are computed from the batch, in two passes. running_mean and
/// running_var, if defined, then become (1 - momentum) old + momentum new, with the unbiased variance. Outside
/// training, the running statistics are the mean and the variance, and do not change.
///
/// weight and bias may be undefined, which means 1 and 0. The running statistics may be undefined in training only, and
/// then both. All are (C) and f32, or of x's type, and the running statistics are contiguous. Refuses one value per
/// channel in training. An empty batch gives an empty y. In training it gives mean and invstd 0, and leaves the running
/// statistics unchanged.
CRISOL_API BatchNormResult batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        const Tensor& running_mean, const Tensor& running_var,
                                        const BatchNormOptions& options = {});
CRISOL_API void batch_norm2d_into(const Tensor& y, const Tensor& mean, const Tensor& invstd, const Tensor& x,
                                  const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                                  const Tensor& running_var, const BatchNormOptions& options = {});

/// Gradients of a normalisation's inputs.
struct NormGradients {
  Tensor x;       ///< In x's shape.
  Tensor weight;  ///< In weight's shape.
  Tensor bias;    ///< In bias's shape.
};

/// The three gradients of batch_norm2d. The gradients of weight and bias are computed even if both were undefined:
///
///     bias = sum dy,  weight = sum dy x^,  x^ = (x - mean) invstd
///     x = w invstd (dy - (bias + x^ weight) / M) in training, M the values per channel; else w invstd dy
///
/// mean and invstd are the results of batch_norm2d. weight may be undefined, and w is weight or 1.
CRISOL_API NormGradients batch_norm2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                               const Tensor& mean, const Tensor& invstd, bool training);

/// The result, and the statistics of each row: f32, in x's shape without the normalised axes.
struct LayerNormResult {
  Tensor y;     ///< In x's shape.
  Tensor mean;  ///< The mean that was subtracted.
  Tensor rstd;  ///< 1 / sqrt(variance + epsilon).
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes of x (f32 or f16). normalized_shape
/// has rank 1 or more and must be the sizes of these axes. The variance is biased, and computed in two passes. weight
/// and bias are f32 or of x's type, of normalized_shape, or undefined, which means 1 and 0. Refuses epsilon < 0.
CRISOL_API LayerNormResult layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                                      const Tensor& bias, double epsilon = 1e-5);
CRISOL_API void layer_norm_into(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                                const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                                double epsilon = 1e-5);

/// The gradients of layer_norm, with x^ = (x - mean) rstd, w = weight or 1, and g = dy w:
///
///     x = rstd (g - mean(g) - x^ mean(g x^)),  weight = sum over rows of dy x^,  bias = sum over rows of dy
///
/// mean and rstd are the results of layer_norm. Without `parameters` the gradients of weight and bias stay undefined.
CRISOL_API NormGradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Shape& normalized_shape,
                                             const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                             bool parameters = true);

}  // namespace crisol::ops
