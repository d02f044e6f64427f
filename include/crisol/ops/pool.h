// Pooling over images, forward and backward, without autograd. The differentiable functions of the same names are in
// crisol/functions/pool.h.
//
// Images are (N, C, H, W), f32, of any strides; results are contiguous. Every function throws Error (invalid_argument)
// for another rank or dtype, a window that does not fit or is not positive, and leaves all tensors as they were.
#pragma once

#include "crisol/export.h"
#include "crisol/options/pool.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The largest elements, and where they were.
struct MaxPool2dResult {
  Tensor values;   ///< (N, C, OH, OW)
  Tensor indices;  ///< i32 of the same shape: h * W + w of the element that was taken.
};

/// The largest element of each window; OH = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, likewise
/// OW. Of equal elements the first is taken; a NaN wins, as in PyTorch.
CRISOL_API MaxPool2dResult max_pool2d(const Tensor& x, const MaxPool2dOptions& options);

/// The gradient of x, of shape `input_shape`, from that of the values: each element of `dy` goes to the element that
/// its index names. Indices outside the plane go nowhere.
CRISOL_API Tensor max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                                      const MaxPool2dOptions& options);

/// The mean of each window: (N, C, OH, OW), sizes as for max_pool2d. The divisor follows PyTorch: a window that
/// ceil_mode lets reach behind the padding counts up to the padding's end.
CRISOL_API Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);
/// The gradient of x, of shape `input_shape`: each element of `dy` over its window, divided as the mean was.
CRISOL_API Tensor avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const AvgPool2dOptions& options);

/// (N, C, output.h, output.w): output (oh, ow) is the mean over the rows from floor(oh H / output.h) to ceil((oh + 1) H
/// / output.h) - 1 and the like columns.
CRISOL_API Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output);
/// The gradient of x, of shape `input_shape`.
CRISOL_API Tensor adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& input_shape);

}  // namespace crisol::ops
