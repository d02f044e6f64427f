// Raw convolution of images and volumes, not recorded by autograd. Users call crisol::conv2d and crisol::conv3d
// (crisol/functions/conv.h).
#pragma once

#include <cstdint>
#include <string>

#include "crisol/device.h"
#include "crisol/ops/workspace.h"
#include "crisol/options/conv.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Cross-correlation, as in PyTorch's conv2d:
///
///     y[n, k, i, j] = bias[k] + sum over c, r, s of x[n, g·C/G + c, i·stride_h + r·dilation_h - padding_h,
///                                                     j·stride_w + s·dilation_w - padding_w] · weight[k, c, r, s]
///
/// where G = groups, g = k / (K/G) rounded down, and x is zero outside the image. Shapes: x (N, C, H, W), weight (K,
/// C/G, R, S), bias (K) or undefined, all of one type and on one device. y is (N, K, H', W') with H' =
/// floor((H + 2·padding_h - dilation_h·(R - 1) - 1) / stride_h) + 1, and W' likewise. Throws invalid_argument for a
/// wrong rank, dtype or device, channels that do not fit, a stride or dilation below 1, a negative padding, or an
/// output that would be empty.
///
/// Whole numbers are exact modulo the size of their type. They and f64 are computed as a product with the matrix of all
/// windows, which takes R S times the memory of x. There is no convolution of bool, and gradients with respect to the
/// weight are floating-point numbers.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv2dOptions& options = {});
CRISOL_API void conv2d_into(const Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                            const Conv2dOptions& options = {});

/// The gradient with respect to x, which has the shape `input` (N, C, H, W). dx[n, c, h, w] is the sum of dy · weight
/// over all outputs that depend on x[n, c, h, w].
CRISOL_API Tensor conv2d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input,
                                       const Conv2dOptions& options = {});
CRISOL_API void conv2d_backward_data_into(const Tensor& out, const Tensor& dy, const Tensor& weight, const Shape& input,
                                          const Conv2dOptions& options = {});

/// Gradient with respect to the weight. `weight` is its shape (K, C/G, R, S). Every run gives the same bits.
CRISOL_API Tensor conv2d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight,
                                         const Conv2dOptions& options = {});
CRISOL_API void conv2d_backward_weight_into(const Tensor& out, const Tensor& dy, const Tensor& x, const Shape& weight,
                                            const Conv2dOptions& options = {});

/// The computation: the convolution or one of its gradients.
enum class Conv2dPass { forward, backward_data, backward_weight };

/// The variant that conv2d would use, and the size of its workspace.
struct Conv2dChoice {
  std::string variant;          ///< The name, as CRISOL_VARIANT takes it: "direct".
  std::uint64_t workspace = 0;  ///< Bytes of memory in addition to the operands and the result.
};

/// The variant that conv2d or one of its gradients would use on a device, for these shapes of the input and the weight,
/// with the current workspace limit. Queues nothing. Throws the same errors as conv2d for the shapes.
CRISOL_API Conv2dChoice conv2d_choice(Conv2dPass pass, const Shape& input, const Shape& weight,
                                      const Conv2dOptions& options = {}, Device device = Device());

/// Cross-correlation of volumes, as in PyTorch's conv3d: conv2d with one more axis in front of height and width.
/// Shapes: x (N, C, D, H, W), weight (K, C/G, Q, R, S), bias (K) or undefined, all of one type, and on one device. y is
/// (N, K, D', H', W'), and the errors are the same as for conv2d.
///
/// conv2d and its variants compute it: a slice of y is a convolution of images with the channels of Q slices of x.
/// So x is copied Q / stride_d times, at most 256 MB or ops::workspace_limit() but at least one image at a time, and
/// the result is copied once. The kernel (Q, 1, 1) with stride 1 and padding 0 in height and width needs no copies.
CRISOL_API Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv3dOptions& options = {});
CRISOL_API void conv3d_into(const Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                            const Conv3dOptions& options = {});

/// Gradient with respect to x, of shape `input` (N, C, D, H, W).
CRISOL_API Tensor conv3d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input,
                                       const Conv3dOptions& options = {});
CRISOL_API void conv3d_backward_data_into(const Tensor& out, const Tensor& dy, const Tensor& weight, const Shape& input,
                                          const Conv3dOptions& options = {});

/// Gradient with respect to the weight. `weight` is its shape (K, C/G, Q, R, S). Every run gives the same bits.
CRISOL_API Tensor conv3d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight,
                                         const Conv3dOptions& options = {});
CRISOL_API void conv3d_backward_weight_into(const Tensor& out, const Tensor& dy, const Tensor& x, const Shape& weight,
                                            const Conv3dOptions& options = {});

}  // namespace crisol::ops
