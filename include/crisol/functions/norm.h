// Differentiable normalisations: gradients for x, weight and bias. Rules and errors are those of the raw ops in
// crisol/ops/norm.h.
#pragma once

#include "crisol/fuse.h"
#include "crisol/options/norm.h"
#include "crisol/tensor.h"

namespace crisol {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias per channel of x (N, C, …), by the batch's statistics in
/// training, which also go into running_mean and running_var in place, else by those. Any of the last four may be
/// undefined, the running ones both in training only.
CRISOL_API Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                               const Tensor& running_var, const BatchNormOptions& options = {});

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes of x, whose sizes are normalized_shape;
/// weight and bias may be undefined.
CRISOL_API Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = Tensor(),
                             const Tensor& bias = Tensor(), double epsilon = 1e-5);

/// f(batch_norm2d(…), …) of a fused function f: see Epilogue. With running statistics and without gradients one pass
/// over x; else f runs behind the normalisation.
CRISOL_API Tensor batch_norm2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                               const Tensor& running_var, const BatchNormOptions& options, const Epilogue& epilogue);

/// f(layer_norm(…), …) of a fused function f, which runs behind the normalisation: see Epilogue.
CRISOL_API Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                             double epsilon, const Epilogue& epilogue);

}  // namespace crisol
