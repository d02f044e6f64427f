// Only for lib/ops/conv, until it is converted to plans; see cpu_tiles.h.
// Geometry of the register-tiled GEMM for CPUs (gemm_cpu.cl), shared by matmul and convolution.
#pragma once

#include <optional>

#include "ops/product/gemm.h"
#include "runtime/memory_pool.h"

namespace crisol::ops {
inline namespace before_plans {

/// What gemm_pack packs: element (i, k) of a matrix is i * row + k0 * stride0 + k1 * stride1 + k2 * stride2 behind
/// its first, k = (k0 * count1 + k1) * count2 + k2.
struct PackSource {
  runtime::BufferView first;
  std::int64_t m, k, row;
  std::int32_t count1 = 1, count2 = 1;
  std::int64_t stride0, stride1 = 0, stride2 = 0;
  std::int64_t count = 1, batch = 0;  ///< Matrices, and the distance between them.
};

/// What a plan leaves open.
struct TileChoice {
  bool b_packed = false;     ///< B as a whole, before the product.
  std::int32_t vectors = 3;  ///< In a row of the tile: 3 with 8 rows, or 2 with 12; with fewer lanes 3 and 4.
  std::int64_t depth = 512;  ///< Of a block, at most. With 4 panels of B 400 KB: half of a usual L2 cache.
};

/// How a product of m x k with k x n matrices is cut. See the head of gemm_cpu.cl for the blocks.
struct TilePlan {
  std::int32_t vector_width, tile_rows, tile_vectors;
  std::int32_t block_m, block_n, block_k;
  std::int64_t items;  ///< Work-items of gemm_multiply.
  std::int64_t slice;  ///< Floats of scratch of each.

  std::int64_t tile_columns() const noexcept { return std::int64_t{tile_vectors} * vector_width; }
  /// Floats of packed A, for `count` matrices.
  std::int64_t packed_size(std::int64_t m, std::int64_t k, std::int64_t count) const noexcept;
};

/// Columns of the panels in which B is packed on this device.
std::int64_t panel_columns(const runtime::DeviceState& device);

/// Nothing where the problem is beyond the kernel's int indices or the device's loop budget. `column_ints` of scratch
/// are added for each column (what a gathering loader remembers).
std::optional<TilePlan> plan_tiles(const DeviceInfo& info, int vector_width, std::int64_t m, std::int64_t n,
                                   std::int64_t k, std::int64_t batch, int column_ints, const TileChoice& choice = {});

struct TileKernels {
  runtime::Kernel& pack;
  runtime::Kernel& multiply;
};
TileKernels resolve_tiles(runtime::DeviceState& device, const TilePlan& plan, const Epilogue* epilogue = nullptr);

/// How a packed copy of it is known; width is that of the row panels.
DerivedKey pack_key(const PackSource& source, std::int64_t width);

/// The packed copy: the one that `owner`, which may be nullptr, keeps for this version, else a new one, which it keeps
/// from the second use of a version on.
std::shared_ptr<runtime::Block> packed_operand(runtime::DeviceState& device, runtime::Kernel& pack,
                                               const PackSource& source, std::int64_t width, Storage* owner);

/// What gemm_multiply multiplies, see there.
struct TileProduct {
  runtime::BufferView packed, b, c, bias, scratch;
  std::int64_t m, n, k, batch;
  std::int64_t a_batch, b_batch, c_batch, bias_batch, c_row, b_row = 0, b_column = 0;
  std::int32_t flags = 0;
  const Epilogue* epilogue = nullptr;
  Shape plane{}, walk{};  ///< Where B is gathered.
  std::int64_t b_size = 0, to_image = 0;
};
void launch_tiles(runtime::DeviceState& device, const TilePlan& plan, const TileKernels& kernels,
                  const TileProduct& product);

}  // namespace before_plans
}  // namespace crisol::ops
