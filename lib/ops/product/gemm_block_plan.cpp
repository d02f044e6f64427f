// Only for lib/ops/conv, until it is converted to plans; see tiled_product.h.
// Which tile, and in how many parts of the depth: a model of a GPU in a few figures. None was measured; they are ratios
// of the compiled kernels' instructions and of what vendors say about their devices.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/ceil_div.h"
#include "dispatch/gpu_model.h"
#include "dispatch/variant.h"
#include "ops/product/gemm_block.h"
#include "ops/product/gemm_tiled.h"

namespace crisol::ops {
inline namespace before_plans {

namespace {

// The first is for large products. Skinny ones for few rows or columns, where the rest of a tile would be waste; the
// least for small products, which need many groups.
constexpr BlockTile tiles[] = {
    {128, 128, 8, 8, 8, 1.0},  {128, 64, 8, 8, 8, 1.06},  {64, 128, 8, 8, 8, 1.06},  {64, 64, 8, 8, 4, 1.1},
    {128, 32, 16, 8, 4, 1.15}, {32, 128, 16, 8, 4, 1.15}, {16, 128, 16, 4, 8, 1.15}, {32, 32, 16, 4, 4, 1.35},
};

// In multiply-adds of one compute unit: what a group takes beside them for each of its results (reading the first
// slices, storing), what a part of the depth costs for each result (written, read again), and another launch.
constexpr double of_result = 48, of_part = 24, of_launch = 5e5;
// Items of a compute unit that hide each other's waiting, and groups that it takes at a time.
constexpr double busy_items = 256, most_groups = 4;

// Elements of a slice that an item reads while it multiplies the one before.
int read_ahead(const BlockTile& tile) { return (tile.rows + tile.columns) * tile.depth / tile.items(); }

// Intel's work-items have 4 KB of registers for eight of them. Without vectors, what is read ahead takes addresses,
// too.
bool spills_on_intel(const BlockTile& tile, int vec) {
  return tile.item_rows * tile.item_columns > 32 || read_ahead(tile) > (vec == 4 ? 16 : 8);
}

// Without vectors the many addresses of these tiles take registers: those of the largest leave room for one group at a
// time, those of the one with 16 rows spill on gfx942.
bool too_many_addresses(const BlockTile& tile, int vec) {
  return vec == 1 && ((tile.rows + tile.columns == 256 && tile.items() == 256) || read_ahead(tile) > 32);
}

double cost_of(const BlockPlan& plan, double units, std::int64_t results) {
  const double area = double{1} * plan.tile.rows * plan.tile.columns;
  const double rounds = std::max(1.0, static_cast<double>(plan.groups) / units);
  const double together = std::min(rounds, most_groups) * plan.tile.items();
  const double waiting = std::max(1.0, busy_items / together);
  double cost =
      std::ceil(rounds) * area * (static_cast<double>(plan.part_depth) * plan.tile.effort + of_result) * waiting;
  if (plan.parts > 1) cost += of_launch + of_part * static_cast<double>(plan.parts * results) / units;
  return cost;
}

}  // namespace

void BlockTile::define(runtime::Defines& defines) const {
  for (const auto& [name, value] : {std::pair<const char*, int>{"BM", rows},
                                    {"BN", columns},
                                    {"BK", depth},
                                    {"TM", item_rows},
                                    {"TN", item_columns}})
    defines.add({name, value});
}

std::span<const BlockTile> block_tiles() { return tiles; }

const char* refuse_tile(const BlockTile& tile, const DeviceInfo& info, int vec) {
  if (is_gpu_of(vendor_intel, info) && spills_on_intel(tile, vec)) return "the device has too few registers";
  if (static_cast<std::uint64_t>(tile.items()) > info.max_work_group) return "the device's work-groups are too small";
  if (tile.local_bytes() > static_cast<std::int64_t>(info.local_memory))
    return "the device has too little local memory";
  return nullptr;
}

const char* refuse_blocks(const DeviceInfo& info) {
  const char* reason = nullptr;
  for (const BlockTile& tile : tiles)
    if ((reason = refuse_tile(tile, info, 1)) == nullptr) return nullptr;
  return reason;
}

BlockPlan cut_blocks(const BlockTile& tile, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                     int parts) {
  const std::int64_t step = std::int64_t{8} * tile.depth;  // A part is worth its prologue, and begins where vectors do.
  BlockPlan plan{tile, 1, ceil_div(ceil_div(k, parts), step) * step, 0};
  plan.parts = static_cast<int>(ceil_div(k, plan.part_depth));
  if (plan.parts == 1) plan.part_depth = k;
  plan.groups = ceil_div(m, tile.rows) * ceil_div(n, tile.columns) * batch * plan.parts;
  return plan;
}

BlockPlan plan_blocks_among(std::span<const BlockTile> some, const DeviceInfo& info, std::int64_t m, std::int64_t n,
                            std::int64_t k, std::int64_t batch, int most_parts) {
  const double units = multiprocessors_of(info);
  BlockPlan best;
  double least = 0;
  for (const BlockTile& tile : some) {
    for (int parts = 1; parts <= most_parts; parts *= 2) {
      const BlockPlan plan = cut_blocks(tile, m, n, k, batch, parts);
      const bool enough = parts > 1 && static_cast<double>(plan.groups) > 4 * units;  // For all units, evenly.
      if (plan.parts < parts || enough) break;
      const double cost = cost_of(plan, units, m * n * batch);
      if (best.groups != 0 && cost >= least) continue;
      best = plan;
      least = cost;
    }
  }
  return best;
}

BlockPlan plan_blocks(const DeviceInfo& info, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                      int vec, int most_parts) {
  std::vector<BlockTile> usable;
  for (const BlockTile& tile : tiles)
    if (refuse_tile(tile, info, vec) == nullptr && !too_many_addresses(tile, vec)) usable.push_back(tile);
  return plan_blocks_among(usable, info, m, n, k, batch, most_parts);
}

namespace {

constexpr std::int64_t workspace_bytes = std::int64_t{256} << 20;  // Unless the limit is lower.

}  // namespace

void define_block(runtime::Defines& defines, const DeviceInfo& info) {
  if (!info.fast_fma) defines.add({"NO_FMA", 1});
  if (takes_cpu_kernels(info)) defines.add({"ROLLED", 1});
}

bool reads_vectors(const Epilogue* epilogue, int count) {
  if (epilogue == nullptr) return true;
  for (std::size_t i = 0; i < epilogue->operand_count; ++i) {
    const EpilogueOperand& e = epilogue->operands[i];
    if (e.column == 0) continue;
    if (e.column != 1 || e.first.offset % count != 0 || e.row % count != 0 || e.batch % count != 0) return false;
  }
  return true;
}

int most_block_parts(std::int64_t part_bytes, std::int64_t other_bytes) {
  int parts = static_cast<int>(std::min<std::int64_t>(workspace_bytes / part_bytes, 64));
  const auto bytes = [&] { return static_cast<std::uint64_t>(part_bytes * parts + other_bytes); };
  while (parts > 1 && refuse_workspace(bytes()) != nullptr) parts /= 2;
  return std::max(1, parts);
}

void run_gemm_block(const Gemm& product, const BlockPlan& block) {
  const BlockTile& t = block.tile;
  const TileShape tile{t.rows, t.columns, t.item_rows, t.item_columns, t.effort, t.depth};
  dispatch::Plan plan;
  add_tiled_product(plan, dispatch::target_of(product.device), fma_engine(),
                    {tile, block.parts, block.part_depth, block.groups}, as_row_major(problem_of(product)));
  launch_gemm(*dispatch::prepare(std::move(plan), product.device), product, product.b.first);
}

}  // namespace before_plans
}  // namespace crisol::ops
