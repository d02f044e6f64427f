// Differentiable pooling, in any floating-point type, and for max_pool2d, avg_pool2d and max_pool3d in whole numbers,
// of images x (N, C, H, W) and of volumes x (N, C, D, H, W). x may also be one image (C, H, W) or one volume (C, D, H,
// W), and the result then has no batch axis. Errors (invalid_argument): another rank or dtype, a window that does not
// fit or is not positive.
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
/// ceil_mode lets a window extend beyond the padding, elements beyond the padding do not count. Of means of whole
/// numbers the fraction is left out, as in PyTorch.
CRISOL_API Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);

/// The means over windows that divide the image: (N, C, output.h, output.w). Output (oh, ow) is the mean over rows
/// floor(oh H / output.h) to ceil((oh + 1) H / output.h) - 1, and over columns likewise. An output of 1 is global
/// average pooling.
CRISOL_API Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output);

/// max_pool2d with one more axis: (N, C, OD, OH, OW), with sizes as in max_pool2d. NaN and equal elements are treated
/// in the same way. Elements are ordered by (d, h, w).
CRISOL_API Tensor max_pool3d(const Tensor& x, const MaxPool3dOptions& options);

/// The same values, and for each of them its position (d · H + h) · W + w in the volume.
CRISOL_API ExtremeResult max_pool3d_with_indices(const Tensor& x, const MaxPool3dOptions& options);

/// avg_pool2d with one more axis: (N, C, OD, OH, OW). The divisor counts as in avg_pool2d.
CRISOL_API Tensor avg_pool3d(const Tensor& x, const AvgPool3dOptions& options);

/// adaptive_avg_pool2d with one more axis: (N, C, output.d, output.h, output.w).
CRISOL_API Tensor adaptive_avg_pool3d(const Tensor& x, IntTriple output);

}  // namespace crisol
