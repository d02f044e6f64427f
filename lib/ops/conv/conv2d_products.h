// A convolution as a matrix product whose right operand is gathered from an image. The forward pass is one such
// product. The gradient of the input is one product for each phase of the stride. GPUs compute it in tiles
// (conv2d_tiled.cl), CPUs with gemm_cpu_tiled.cl.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "conv/parameters.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/product/gpu/tiled_product.h"

namespace crisol::ops {

/// Strides are in elements. The result has `m` rows (channels of a group). Its columns are (image, row, column).
struct GatheredProduct {
  std::int64_t groups, m, images, rows, columns;
  std::int64_t channels;  ///< Channels of src in a group.
  std::int32_t taps_h, taps_w;
  /// The weight of row i, channel c and tap (r, s) of group g is at g * s[0] + i * s[1] + c * s[2] + r * s[3] + s *
  /// s[4].
  std::array<std::int64_t, 5> weight_strides;

  std::int64_t height, width;                      ///< The size of a plane of src.
  std::int64_t src_image, src_group, src_channel;  ///< Strides.
  std::int32_t step_h, step_w, start_h, start_w;   ///< src row = row * step_h + start_h + r * tap_h
  std::int32_t tap_h, tap_w;
  std::int64_t c_image, c_group, c_row, c_h, c_w;  ///< Strides of the result.

  std::int64_t weight_first = 0, c_first = 0;  ///< Positions of the first elements in the weight and in the result.

  std::int64_t taps() const noexcept { return std::int64_t{taps_h} * taps_w; }
  std::int64_t depth() const noexcept { return channels * taps(); }
  /// The number of channels that are neighbours in the depth at each tap, so that they share the tap's address
  /// (CHANNEL_VECTOR of the kernels).
  int channel_vector() const noexcept { return channels % 8 == 0 && depth() > 0 ? 8 : 1; }
  std::int64_t pixels() const noexcept { return rows * columns; }
  std::int64_t n() const noexcept { return images * pixels(); }
  /// The length of a row of A for the GPU kernels: whole vectors. A product without a depth gets one vector of zeros.
  std::int64_t packed_depth() const noexcept { return std::max<std::int64_t>(4, (depth() + 3) / 4 * 4); }
  /// Whether the weight itself can be A. For this it must start at a multiple of four.
  bool is_packed() const noexcept;
  /// The window, as an argument of the GPU kernels.
  kernels::WindowParameters window() const noexcept;
  /// The positions of the columns in the result.
  kernels::ColumnParameters places() const noexcept;
};

GatheredProduct forward_product(const Conv2dSizes& sizes);
/// The products of the gradient of the input: one for each remainder of a position modulo the stride.
std::vector<GatheredProduct> phase_products(const Conv2dSizes& sizes);
/// The sum of the parts of such a product, into the result `c` of the convolution.
PartsSum sum_of_parts(const Conv2dProblem& problem, const GatheredProduct& product, dispatch::Place parts,
                      dispatch::Place c, dispatch::Place bias, int split_k, const EpilogueArgs& args);

}  // namespace crisol::ops
