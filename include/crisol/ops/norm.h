// Raw normalisations. Not recorded by autograd.
#pragma once

#include "crisol/options/norm.h"
#include "crisol/shape.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The result, and the statistics that it was made with, f32 (C) each: what backward needs.
struct BatchNormResult {
  Tensor y;       ///< Of x's shape.
  Tensor mean;    ///< What was subtracted.
  Tensor invstd;  ///< 1 / sqrt(variance + epsilon).
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, per channel, of x f32 (N, C) or (N, C, …); as PyTorch's.
///
/// In training mean and (biased) variance are the batch's, computed in two passes, and where running_mean and
/// running_var are given they become (1 - momentum) old + momentum new, with the unbiased variance. Otherwise the
/// running statistics are what is used, and are left alone. weight and bias may be undefined (1 and 0), the running
/// statistics both in training only; all are f32 (C), the running ones contiguous. Refuses one value per channel in
/// training. An empty batch gives an empty y, mean and invstd 0 in training, and leaves the running statistics alone.
CRISOL_API BatchNormResult batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        const Tensor& running_mean, const Tensor& running_var,
                                        const BatchNormOptions& options = {});

/// Gradients of a normalisation's inputs.
struct NormGradients {
  Tensor x;       ///< Of x's shape.
  Tensor weight;  ///< Of weight's.
  Tensor bias;    ///< Of bias'.
};

/// All three gradients of batch_norm2d, those of weight and bias as if both had been given:
///
///     bias = sum dy,  weight = sum dy x^,  x^ = (x - mean) invstd
///     x = w invstd (dy - (bias + x^ weight) / M) in training, M the values per channel; else w invstd dy
///
/// mean and invstd are the forward's; weight may be undefined.
CRISOL_API NormGradients batch_norm2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                               const Tensor& mean, const Tensor& invstd, bool training);

/// The result, and each row's statistics, f32 of x's shape without the normalised axes.
struct LayerNormResult {
  Tensor y;     ///< Of x's shape.
  Tensor mean;  ///< What was subtracted.
  Tensor rstd;  ///< 1 / sqrt(variance + epsilon).
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes of x f32, whose sizes must be
/// normalized_shape, of rank 1 or more; variance biased, computed in two passes. weight and bias, f32 of that shape,
/// may be undefined (1 and 0). Refuses epsilon < 0.
CRISOL_API LayerNormResult layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                                      const Tensor& bias, double epsilon = 1e-5);

/// The gradients of layer_norm: with x^ = (x - mean) rstd and g = dy w
///
///     x = rstd (g - mean(g) - x^ mean(g x^)),  weight = sum over rows of dy x^,  bias = sum over rows of dy
///
/// mean and rstd are the forward's. Without `parameters` those of weight and bias are left undefined.
CRISOL_API NormGradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Shape& normalized_shape,
                                             const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                             bool parameters = true);

}  // namespace crisol::ops
