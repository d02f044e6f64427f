// Differentiable convolution. Each type but bool is taken. Whole numbers, which have no gradients, are exact modulo the
// size of their type.
#pragma once

#include "crisol/fuse.h"
#include "crisol/options/conv.h"
#include "crisol/tensor.h"

namespace crisol {

/// Cross-correlation of images, as PyTorch's conv2d, with gradients for x, weight and bias:
///
///     y[n, k, i, j] = bias[k] + sum over c, r, s of x[n, g·C/G + c, i·stride_h + r·dilation_h - padding_h,
///                                                     j·stride_w + s·dilation_w - padding_w] · weight[k, c, r, s]
///
/// where G = groups, g = k / (K/G) rounded down, and x is zero outside the image. Shapes: x (N, C, H, W), weight (K,
/// C/G, R, S), bias (K) or undefined, all of one type and on one device. y is (N, K, H', W') with H' =
/// floor((H + 2·padding_h - dilation_h·(R - 1) - 1) / stride_h) + 1, and W' likewise. x may also be one image (C, H,
/// W), and y then has no batch axis. Throws invalid_argument for a wrong rank, dtype or device, channels that do not
/// fit, a bad option, or an output that would be empty.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv2dOptions& options = {});

/// f(conv2d(x, weight, bias, options), …) for a fused function f, in one kernel if possible: see Epilogue. relu costs
/// nothing, even after a sum. Any other f compiles the kernel of the convolution once more.
CRISOL_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options,
                         const Epilogue& epilogue);

/// The transposed convolution, as PyTorch's conv_transpose2d, with gradients for x, weight and bias. It is the gradient
/// of conv2d for its input: x[n, c, i, j] · weight[c, k, r, s] is added to
///
///     y[n, k, i·stride_h + r·dilation_h - padding_h, j·stride_w + s·dilation_w - padding_w]
///
/// Shapes: x (N, C, H, W), weight (C, K/G, R, S), bias (K) or undefined, all of one type, and on one
/// device, where G = groups. y is (N, K, H', W') with H' = (H - 1)·stride_h - 2·padding_h + dilation_h·(R - 1) +
/// output_padding_h + 1, and W' likewise. x may also be one image (C, H, W), and y then has no batch axis. Throws
/// invalid_argument for a wrong rank, dtype or device, channels that do not fit, a bad option, or an output that would
/// be empty.
CRISOL_API Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                                   const ConvTranspose2dOptions& options = {});

/// Cross-correlation of sequences, as PyTorch's conv1d, with gradients for x, weight and bias:
///
///     y[n, k, i] = bias[k] + sum over c, s of x[n, g·C/G + c, i·stride + s·dilation - padding] · weight[k, c, s]
///
/// with G and g as in conv2d. Shapes: x (N, C, L), weight (K, C/G, S), bias (K) or undefined, all of one type
/// and on one device. y is (N, K, L') with L' as H' in conv2d. x may also be one sequence (C, L), and y then has
/// no batch axis. Throws invalid_argument where conv2d does. It runs as a conv2d of images with one row.
CRISOL_API Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv1dOptions& options = {});

/// f(conv1d(x, weight, bias, options), …) for a fused function f, in one kernel if possible: see Epilogue.
CRISOL_API Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dOptions& options,
                         const Epilogue& epilogue);

/// The transposed convolution of sequences, as PyTorch's conv_transpose1d, with gradients for x, weight and bias. It is
/// the gradient of conv1d for its input. Shapes: x (N, C, L), weight (C, K/G, S), bias (K) or undefined, all of one
/// type, and on one device. y is (N, K, L') with L' as H' in conv_transpose2d. x may also be one
/// sequence (C, L), and y then has no batch axis. Throws invalid_argument where conv_transpose2d does.
CRISOL_API Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                                   const ConvTranspose1dOptions& options = {});

/// Cross-correlation of volumes, as PyTorch's conv3d, with gradients for x, weight and bias:
///
///     y[n, k, l, i, j] = bias[k] + sum over c, q, r, s of x[n, g·C/G + c, l·stride_d + q·dilation_d - padding_d,
///         i·stride_h + r·dilation_h - padding_h, j·stride_w + s·dilation_w - padding_w] · weight[k, c, q, r, s]
///
/// with G and g as in conv2d. Shapes: x (N, C, D, H, W), weight (K, C/G, Q, R, S), bias (K) or undefined, all of
/// one type, and on one device. y is (N, K, D', H', W') with sizes as in conv2d. x may also be one
/// volume (C, D, H, W), and y then has no batch axis. Throws invalid_argument where conv2d does.
///
/// It needs memory for Q / stride_d copies of x, but at most 256 MB or ops::workspace_limit() at a time. A kernel (Q,
/// 1, 1) with stride 1 and padding 0 in height and width needs no copies.
CRISOL_API Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                         const Conv3dOptions& options = {});

/// The transposed convolution of volumes, as PyTorch's conv_transpose3d, with gradients for x, weight and bias. It is
/// the gradient of conv3d for its input. Shapes: x (N, C, D, H, W), weight (C, K/G, Q, R, S), bias (K) or undefined,
/// all of one type, and on one device. y is (N, K, D', H', W') with sizes as in conv_transpose2d. x may
/// also be one volume (C, D, H, W), and y then has no batch axis. Throws invalid_argument where conv_transpose2d does.
CRISOL_API Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
                                   const ConvTranspose3dOptions& options = {});

}  // namespace crisol
