// Geometry of the register-tiled GEMM for CPUs (gemm_cpu.cl), shared by matmul and convolution.
#pragma once

#include <optional>

#include "ops/gemm.h"
#include "runtime/memory_pool.h"

namespace crisol::ops {

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

/// Nothing where the problem is beyond the kernel's int indices or the device's loop budget. `column_ints` of scratch
/// are added for each column (what a gathering loader remembers).
std::optional<TilePlan> plan_tiles(const DeviceInfo& info, int vector_width, std::int64_t m, std::int64_t n,
                                   std::int64_t k, std::int64_t batch, int column_ints);

/// The kernels of one use: LOADER is MATRIX or GATHER.
struct TileKernels {
  runtime::Kernel& pack;
  runtime::Kernel& multiply;
};
TileKernels resolve_tiles(runtime::DeviceState& device, const TilePlan& plan, const char* loader);

/// What gemm_pack_a packs: element (i, k) of a matrix is i * row + k0 * stride0 + k1 * stride1 + k2 * stride2 behind
/// its first, k = (k0 * count1 + k1) * count2 + k2.
struct PackSource {
  runtime::BufferView first;
  std::int64_t m, k, row;
  std::int32_t count1 = 1, count2 = 1;
  std::int64_t stride0, stride1 = 0, stride2 = 0;
  std::int64_t count = 1, batch = 0;  ///< Matrices, and the distance between them.
};
void launch_pack(runtime::DeviceState& device, const TilePlan& plan, const TileKernels& kernels,
                 const PackSource& source, runtime::BufferView packed);

}  // namespace crisol::ops
