// Raw pooling over images, forward and backward, not recorded by autograd. The differentiable functions of the same
// names are in crisol/functions/pool.h.
//
// Images are (N, C, H, W) in a floating-point type, for max_pool2d and avg_pool2d also in whole numbers, with any
// strides. Results are contiguous. Every function throws Error (invalid_argument) for another rank or dtype, and for a
// window that does not fit or is not positive. All tensors are then unchanged.
#pragma once

#include "crisol/export.h"
#include "crisol/options/pool.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The largest elements, and their positions.
struct MaxPool2dResult {
  Tensor values;   ///< (N, C, OH, OW)
  Tensor indices;  ///< In the same shape: the position h * W + w of each element in the image.
};

/// The largest element of each window. OH = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, and OW
/// likewise. The first of equal elements is taken. If a window holds NaN, the result is NaN, as in PyTorch. The indices
/// are i32, or u16 if `indices` says so. Then x is f32, f16 or bf16, and its images have up to 65,536 elements.
CRISOL_API MaxPool2dResult max_pool2d(const Tensor& x, const MaxPool2dOptions& options, DType indices = DType::i32);
CRISOL_API void max_pool2d_into(const Tensor& values, const Tensor& indices, const Tensor& x,
                                const MaxPool2dOptions& options);

/// The gradient of x, in shape `input_shape`. `dy` is the gradient of the values. Each element of dy is added at its
/// index, which is i32 or u16. An index outside the image adds nothing.
CRISOL_API Tensor max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Shape& input_shape,
                                      const MaxPool2dOptions& options);
CRISOL_API void max_pool2d_backward_into(const Tensor& out, const Tensor& dy, const Tensor& indices,
                                         const Shape& input_shape, const MaxPool2dOptions& options);

/// The mean of each window: (N, C, OH, OW), with sizes as in max_pool2d. The divisor follows PyTorch: if ceil_mode lets
/// a window extend beyond the padding, elements beyond the padding do not count. Of means of whole numbers the
/// fraction is left out.
CRISOL_API Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);
CRISOL_API void avg_pool2d_into(const Tensor& out, const Tensor& x, const AvgPool2dOptions& options);
/// The gradient of x, in shape `input_shape`: each element of `dy` is divided like its mean and added to all elements
/// of its window.
CRISOL_API Tensor avg_pool2d_backward(const Tensor& dy, const Shape& input_shape, const AvgPool2dOptions& options);
CRISOL_API void avg_pool2d_backward_into(const Tensor& out, const Tensor& dy, const Shape& input_shape,
                                         const AvgPool2dOptions& options);

/// The means over windows that divide the image: (N, C, output.h, output.w). Output (oh, ow) is the mean over rows
/// floor(oh H / output.h) to ceil((oh + 1) H / output.h) - 1, and over columns likewise.
CRISOL_API Tensor adaptive_avg_pool2d(const Tensor& x, IntPair output);
CRISOL_API void adaptive_avg_pool2d_into(const Tensor& out, const Tensor& x, IntPair output);
/// The gradient of x, in shape `input_shape`.
CRISOL_API Tensor adaptive_avg_pool2d_backward(const Tensor& dy, const Shape& input_shape);
CRISOL_API void adaptive_avg_pool2d_backward_into(const Tensor& out, const Tensor& dy, const Shape& input_shape);

}  // namespace crisol::ops
