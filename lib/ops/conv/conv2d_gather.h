// The product of conv2d_block.cl and conv2d_matrix.cl: a convolution, or one of the convolutions that a gradient of an
// input is made of.
#pragma once

#include <algorithm>
#include <array>

#include "ops/conv/conv2d_problem.h"
#include "ops/product/gemm_tiles.h"

namespace crisol::ops {

/// Strides are in elements. `m` rows of the result (channels of a group), columns (image, row, column).
struct GatheredProduct {
  std::int64_t groups, m, images, rows, columns;
  std::int64_t channels;  ///< Of src, a group.
  std::int32_t taps_h, taps_w;
  /// Weight of row i, channel c and tap (r, s) of group g: g * s[0] + i * s[1] + c * s[2] + r * s[3] + s * s[4].
  std::array<std::int64_t, 5> weight_strides;

  std::int64_t height, width;                      ///< Of a plane of src.
  std::int64_t src_image, src_group, src_channel;  ///< Strides.
  std::int32_t step_h, step_w, start_h, start_w;   ///< src row = row * step_h + start_h + r * tap_h
  std::int32_t tap_h, tap_w;
  std::int64_t c_image, c_group, c_row, c_h, c_w;  ///< Strides of the result.

  std::int64_t depth() const noexcept { return channels * taps_h * taps_w; }
  /// Channels that are neighbours in the depth for each tap, so that they share its address: TOGETHER of the kernels.
  int together() const noexcept { return channels % 8 == 0 && depth() > 0 ? 8 : 1; }
  std::int64_t pixels() const noexcept { return rows * columns; }
  std::int64_t n() const noexcept { return images * pixels(); }
  /// Rows of A as the kernel takes them: whole vectors, and at least one, of zeros, where there is nothing to add.
  std::int64_t packed_depth() const noexcept { return std::max<std::int64_t>(4, (depth() + 3) / 4 * 4); }
  /// Whether the weight itself is A, where it begins at a multiple of four.
  bool lies_packed() const noexcept;
};

/// What a product reads and writes beside that.
struct GatheredOperands {
  runtime::BufferView weight, src, c, bias;
  Storage* weight_storage;
  const Epilogue* epilogue = nullptr;
  std::int32_t flags = 0;
};

/// The kernel that multiplies (cl_kernels/conv/conv_product.h), with its tile's defines, and how the product is cut
/// for it.
struct GatheredKernel {
  runtime::KernelSpec spec;
  TileCut cut;
  int run;  ///< Neighbours of a row that an item has of the result, at least.
};

/// Why kernels that gather pixels in tiles cannot take a convolution of these sizes, or nullptr.
const char* refuse_gathering(const Conv2dSizes& sizes);
/// The same of one product, cut into so many work-groups.
const char* refuse_gathered(const GatheredProduct& product, const DeviceInfo& info, std::int64_t groups);
/// Into how many parts the depth may be cut, for the memory that they take, and the memory that some take.
int most_gathered_parts(const GatheredProduct& product);
std::uint64_t gathered_workspace(const GatheredProduct& product, int parts);

/// Kernels, memory and arguments of a product, everything that may fail, so that several can be made before the first
/// is queued.
class GatheredLaunch {
 public:
  GatheredLaunch(runtime::DeviceState& device, const GatheredProduct& product, const GatheredKernel& kernel,
                 const GatheredOperands& operands);
  void queue() const;

 private:
  runtime::DeviceState& device_;
  GatheredProduct product_;
  TileCut cut_;
  GatheredOperands operands_;
  bool packs_;
  int vectors_;  // VEC_C of the kernel that writes the result.
  runtime::Kernel *table_ = nullptr, *pack_ = nullptr, *multiply_ = nullptr, *add_ = nullptr;
  runtime::BlockPtr prepared_, sums_;
  bool is_prepared_ = false;

  void find_prepared();
  void queue_preparation() const;
};

}  // namespace crisol::ops
