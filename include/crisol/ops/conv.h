// Convolution of images, raw: never recorded. Users call crisol::conv2d (crisol/functions/conv.h).
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
/// with g = k / (K/G) and zeros outside x. x (N, C, H, W), weight (K, C/G, R, S), bias (K) or undefined, all f32 and on
/// one device; y (N, K, H', W'), H' = floor((H + 2·padding_h - dilation_h·(R - 1) - 1) / stride_h) + 1 and likewise W'.
/// Throws invalid_argument for a wrong rank, dtype or device, channels that do not fit, a stride or dilation below 1, a
/// negative padding, or an output that would be empty.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv2dOptions& options = {});

/// Gradient with respect to x, of shape `input` (N, C, H, W): dx[n, c, h, w] = sum of dy · weight over all outputs that
/// x element took part in.
CRISOL_API Tensor conv2d_backward_data(const Tensor& dy, const Tensor& weight, const Shape& input,
                                       const Conv2dOptions& options = {});

/// Gradient with respect to the weight of shape (K, C/G, R, S) = `weight`. The same bits on every run.
CRISOL_API Tensor conv2d_backward_weight(const Tensor& dy, const Tensor& x, const Shape& weight,
                                         const Conv2dOptions& options = {});

/// A convolution, or one of its gradients.
enum class Conv2dPass { forward, backward_data, backward_weight };

/// A variant's name, as CRISOL_VARIANT takes it, and the bytes of its workspace.
struct Conv2dChoice {
  std::string variant;          ///< "direct"
  std::uint64_t workspace = 0;  ///< Bytes beside operands and result.
};

/// What conv2d (or one of its gradients) would run for an input and a weight of these shapes on a device, under the
/// present limit. Throws what conv2d throws for the shapes. Nothing is queued.
CRISOL_API Conv2dChoice conv2d_choice(Conv2dPass pass, const Shape& input, const Shape& weight,
                                      const Conv2dOptions& options = {}, Device device = Device());

}  // namespace crisol::ops
