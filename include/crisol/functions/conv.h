// Differentiable convolution.
#pragma once

#include "crisol/fuse.h"
#include "crisol/options/conv.h"
#include "crisol/tensor.h"

namespace crisol {

/// ops::conv2d with gradients for x, weight and bias. x may also be one image (C, H, W); the result has no batch axis
/// then.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv2dOptions& options = {});

/// f(conv2d(x, weight, bias, options), …) of a fused function f, in one kernel where it can be: see Epilogue. relu with
/// or without a sum before it costs nothing; another f compiles the convolution's kernel once more.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
                         const Epilogue& epilogue);

}  // namespace crisol
