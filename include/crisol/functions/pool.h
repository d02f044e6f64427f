// Differentiable pooling. Rules and errors are those of the raw ops in crisol/ops/pool.h. x may also be one image
// (C, H, W); its result has no batch axis either.
#pragma once

#include "crisol/options/pool.h"
#include "crisol/tensor.h"

namespace crisol {

/// The largest element of each window of x (N, C, H, W); its gradient goes to the element that was taken.
CRISOL_API Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options);

/// The mean of each window of x (N, C, H, W).
CRISOL_API Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);

/// (N, C, output.h, output.w): means over windows that divide the image; 1 is global average pooling.
CRISOL_API Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output);

}  // namespace crisol
