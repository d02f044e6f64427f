// Only for lib/ops/conv, until it is converted to plans; see tiled_product.h.
// How a product is cut into the tiles of gemm_block.cl.
#pragma once

#include <span>

#include "ops/product/gemm.h"

namespace crisol::ops {
inline namespace before_plans {

/// BM, BN, BK, TM and TN of cl_kernels/product/block.h.
struct BlockTile {
  int rows, columns, depth, item_rows, item_columns;
  /// What an item's multiply-add takes, the largest tile's being 1: smaller tiles read more from local memory for each.
  double effort;

  int items() const noexcept { return rows / item_rows * (columns / item_columns); }
  std::int64_t local_bytes() const noexcept { return std::int64_t{2} * 4 * depth * (rows + columns + 8); }
  void define(runtime::Defines& defines) const;
};

/// Tile and cut of one product.
struct BlockPlan {
  BlockTile tile{};
  int parts = 1;  ///< Pieces of the depth, added up afterwards.
  std::int64_t part_depth = 0;
  std::int64_t groups = 0;  ///< Work-groups in all.
};

/// The tiles that there are, and which of them the device can run; `vec` as in gemm_block.cl.
std::span<const BlockTile> block_tiles();
const char* refuse_tile(const BlockTile& tile, const DeviceInfo& info, int vec);
/// Why the device can run none of them, or nullptr.
const char* refuse_blocks(const DeviceInfo& info);

/// The plan that is expected to end first, from sizes and device alone. `vec` as in gemm_block.cl; `most_parts` bounds
/// the parts of the depth.
BlockPlan plan_blocks(const DeviceInfo& info, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                      int vec, int most_parts);
/// The same among these tiles, of which there is at least one.
BlockPlan plan_blocks_among(std::span<const BlockTile> tiles, const DeviceInfo& info, std::int64_t m, std::int64_t n,
                            std::int64_t k, std::int64_t batch, int most_parts);
/// Into how many parts a depth may be cut, each of which takes so many bytes of a workspace that has others besides.
int most_block_parts(std::int64_t part_bytes, std::int64_t other_bytes);
/// NO_FMA and ROLLED of product/block.h, for this device.
void define_block(runtime::Defines& defines, const DeviceInfo& info);
/// Whether an epilogue's operands can be read so many columns at a time.
bool reads_vectors(const Epilogue* epilogue, int count = 4);
constexpr std::int64_t most_block_groups = std::int64_t{1} << 27;  ///< The kernels count work-items in 32 bits.

/// Queues the product, whose C has contiguous rows.
void run_gemm_block(const Gemm& product, const BlockPlan& plan);
/// The plan of one tile in `parts` pieces of the depth, or fewer where those would be too small.
BlockPlan cut_blocks(const BlockTile& tile, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                     int parts);

}  // namespace before_plans
}  // namespace crisol::ops
