// Convolutions of whole numbers of one byte with sums of i32: cl_kernels/conv/cpu/convolve_pairs.cl.
#pragma once

#include <array>

#include "ops/product/pairs.h"

namespace crisol::ops {

/// The windows of a convolution. Numbers are for height and width. The padding after the last row or column may differ.
struct PairWindows {
  std::array<std::int64_t, 2> taps, strides, dilations, pads, pads_after;
};

/// The sums of images x (N, C, H, W) of u8 or i8, minus their zero point (one number, or undefined), with filters. The
/// filters are packed by pack_filters. The result is (N, filters, …). The
/// factors `left` and the bias of Scaling are for filters.
Tensor convolve_pairs(const Tensor& x, const Tensor& zero, const Tensor& filters, const PairWindows& windows,
                      const Scaling& by, const ProductEpilogue* epilogue = nullptr);

/// The shape of the result.
Shape shape_of_pairs(const Tensor& x, std::int64_t filters, const PairWindows& windows);

}  // namespace crisol::ops
