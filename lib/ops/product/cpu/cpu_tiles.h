// Geometry of the register-tiled GEMM for CPUs (gemm_cpu_tiled.cl), shared by matmul and convolution.
#pragma once

#include <limits>
#include <optional>

#include "ops/product/gemm.h"

namespace crisol::ops {

/// The largest size of a product on a CPU. The kernels count in 32 bits.
constexpr std::int64_t max_cpu_size = std::numeric_limits<std::int32_t>::max() / 2;

/// The operand of gemm_pack. Element (i, k) of a matrix is i * row + k0 * stride0 + k1 * stride1 + k2 * stride2
/// elements after the first one, where k = (k0 * count1 + k1) * count2 + k2.
struct PackSource {
  std::int64_t m, k, row;
  std::int32_t count1 = 1, count2 = 1;
  std::int64_t stride0;
  std::int32_t stride1 = 0, stride2 = 0;
  std::int64_t count = 1, batch = 0;  ///< The number of matrices, and the distance between them.
  std::int64_t type = 0;              ///< The DType of the elements.
  std::int64_t packed_type = 0;       ///< The DType of the packed elements: f32, or `type`.
};

/// Choices that the caller makes for a plan.
struct CpuTileChoice {
  bool b_packed = false;     ///< Whether all of B is packed before the product.
  std::int32_t vectors = 3;  ///< Vectors in a row of the tile: 3 with 8 rows, or 2 with 12 rows. With fewer lanes: 3
                             /// with 4 rows.
  std::int64_t depth =
      512;  ///< The largest depth of a block. With 4 panels, a block of B takes 400 KB: half of a usual L2 cache.
};

/// How a product of m x k with k x n matrices is cut. See the head of gemm_cpu_tiled.cl for the blocks.
struct CpuTilePlan {
  std::int32_t vector_width, tile_rows, tile_vectors;
  std::int32_t block_m, block_n, block_k;
  std::int64_t items;  ///< Work-items of gemm_multiply.
  std::int64_t slice;  ///< Floats of scratch memory for each item.

  std::int64_t tile_columns() const noexcept { return std::int64_t{tile_vectors} * vector_width; }
  /// The number of floats of packed A, for `count` matrices.
  std::int64_t packed_size(std::int64_t m, std::int64_t k, std::int64_t count) const noexcept;
};

/// The number of vectors in a row of the tile for an m x n result. It is 2 if tiles of 12 x 32 compute clearly less
/// than tiles of 8 x 48. `depth` is the depth of the product times the number of products.
std::int32_t cpu_tile_vectors(const dispatch::Target& target, std::int64_t m, std::int64_t n, std::int64_t depth);

/// The number of columns of the panels into which B is packed.
std::int64_t panel_columns(const dispatch::Target& target);

/// Describes B of a product for gemm_pack. Returns nothing if B is too wide.
std::optional<PackSource> b_source(const GemmProblem& problem);
/// The key of a packed copy. `width` is the number of rows in a panel.
DerivedKey pack_key(const PackSource& source, std::int64_t width);

/// Returns nothing if the problem is too large for the kernel's int indices or for the device's loop budget. If
/// `gathers` is true, the plan has scratch memory for the data of product/cpu/gather.h about columns.
std::optional<CpuTilePlan> plan_cpu_tiles(const dispatch::Target& target, std::int64_t m, std::int64_t n,
                                          std::int64_t k, std::int64_t batch, bool gathers,
                                          const CpuTileChoice& choice = {});

/// VW, MR, NV and NO_FMA of gemm_cpu_tiled.cl.
runtime::Defines cpu_tile_defines(const dispatch::Target& target, std::int64_t vector_width, std::int64_t rows,
                                  std::int64_t vectors);
runtime::Defines cpu_tile_defines(const dispatch::Target& target, const CpuTilePlan& plan);

/// Adds a packed copy of a matrix, in panels of `width` rows, as a step of this plan.
dispatch::Place add_packed(dispatch::Plan& plan, const dispatch::Target& target, const runtime::Defines& defines,
                           dispatch::Place source, const PackSource& shape, std::int64_t width);
/// The same for a weight that this plan does not write. The weight's owner may keep the copy.
dispatch::Place derive_packed(dispatch::Plan& plan, const dispatch::Target& target, const runtime::Defines& defines,
                              dispatch::Place source, const PackSource& shape, std::int64_t width);

/// The operands and sizes of gemm_multiply (gemm_cpu_tiled.cl).
struct CpuTileProduct {
  dispatch::Place packed, b, c, bias;
  std::int64_t b_type = 0;  ///< The DType of B's elements. Packed elements are f32.
  std::int64_t c_type = 0;  ///< The DType of C. It is f32 if the depth is more than a block.
  std::int64_t m, n, k, batch;
  kernels::MatrixParameters a;  ///< Its leading dimension is read only if the flags have a_rows.
  std::int64_t b_batch, c_batch, bias_batch, c_row, b_row = 0, b_column = 0;
  std::int32_t flags = 0;
  EpilogueLayout epilogue{};
  EpilogueArgs args;
  kernels::GatherParameters images{};  ///< Read only if B is gathered, like the columns' positions in C.
  kernels::ColumnParameters places{};
};
/// Adds the launch of gemm_multiply, with its scratch.
void add_cpu_tiles(dispatch::Plan& plan, const dispatch::Target& target, const CpuTilePlan& tiles,
                   const CpuTileProduct& product);

}  // namespace crisol::ops
