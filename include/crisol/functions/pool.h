// Differentiable pooling of images x (N, C, H, W) in f32. x may also be one image (C, H, W), and the result then has no
// batch axis. Errors (invalid_argument): another rank or dtype, a window that does not fit or is not positive.
#pragma once

#include "crisol/options/pool.h"
#include "crisol/tensor.h"

namespace crisol {

/// The largest element of each window: (N, C, OH, OW) with OH = floor((H + 2 padding - dilation (kernel - 1) - 1) /
/// stride) + 1, and OW likewise. The first of equal elements is taken, and gets the gradient. If a window holds NaN,
/// the result is NaN, as in PyTorch.
CRISOL_API Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options);

/// The same values, and for each of them its position h · W + w in the image.
CRISOL_API ExtremeResult max_pool2d_with_indices(const Tensor& x, const MaxPool2dOptions& options);

/// The mean of each window: (N, C, OH, OW), with sizes as in max_pool2d for dilation 1. The divisor follows PyTorch: if
/// ceil_mode lets a window extend beyond the padding, elements beyond the padding do not count.
CRISOL_API Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);

/// The means over windows that divide the image: (N, C, output.h, output.w). Output (oh, ow) is the mean over rows
/// floor(oh H / output.h) to ceil((oh + 1) H / output.h) - 1, and over columns likewise. An output of 1 is global
/// average pooling.
CRISOL_API Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output);

}  // namespace crisol
