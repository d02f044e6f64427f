#include "ops/product/gpu/tiled_product.h"

#include <algorithm>
#include <vector>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "ops/storage.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t max_workspace = std::int64_t{256} << 20;  // In bytes. The workspace limit may be lower.
constexpr std::int64_t max_parts = 64;

}  // namespace

const TileShape* tile_like(const TileShape& other, std::span<const TileShape> tiles) {
  for (const TileShape& tile : tiles)
    if (tile.rows == other.rows && tile.columns == other.columns) return &tile;
  return nullptr;
}

const char* against_tiles(const Engine& engine, const Target& target) {
  const char* reason = nullptr;
  for (const TileShape& tile : engine.tiles())
    if ((reason = engine.against_tile(tile, target, 1)) == nullptr) return nullptr;
  return reason;
}

TilePlan cut_tiles(const Engine& engine, const TileShape& tile, const ProductExtent& extent, int split_k) {
  // A part must be deep enough to be worth its start, and must start where vectors start.
  const std::int64_t multiple = std::int64_t{8} * engine.slice_depth(tile);
  TilePlan plan{tile, 1, ceil_div(ceil_div(extent.k, split_k), multiple) * multiple, 0};
  plan.split_k = static_cast<int>(ceil_div(extent.k, plan.part_depth));
  if (plan.split_k == 1) plan.part_depth = extent.k;
  plan.groups = ceil_div(extent.m, tile.rows) * ceil_div(extent.n, tile.columns) * extent.batch * plan.split_k;
  return plan;
}

TilePlan plan_tiles(const Engine& engine, std::span<const TileShape> among, const Target& target,
                    const ProductExtent& extent, int max_split_k) {
  TilePlan best;
  double least = 0;
  for (const TileShape& tile : among)
    for (int split_k = 1; split_k <= max_split_k; split_k *= 2) {
      const TilePlan plan = cut_tiles(engine, tile, extent, split_k);
      if (plan.split_k < split_k || (split_k > 1 && engine.is_busy(plan.groups, target))) break;
      const double cost = engine.cost(plan, extent, target);
      if (best.groups != 0 && cost >= least) continue;
      best = plan;
      least = cost;
    }
  return best;
}

TilePlan plan_tiles(const Engine& engine, const Target& target, const ProductExtent& extent, int vectors,
                    int max_split_k) {
  std::vector<TileShape> usable;
  for (const TileShape& tile : engine.tiles())
    if (engine.against_tile(tile, target, vectors) == nullptr && engine.suits(tile, vectors)) usable.push_back(tile);
  return plan_tiles(engine, usable, target, extent, max_split_k);
}

int max_split_k(const Target& target, std::int64_t part_bytes, std::int64_t other_bytes) {
  const std::int64_t bytes = target.bytes_at_once(max_workspace + other_bytes) - other_bytes;
  return static_cast<int>(std::clamp<std::int64_t>(bytes / part_bytes, 1, max_parts));
}

runtime::NdRange range_of(const Engine& engine, const TilePlan& plan) {
  const auto [x, y] = engine.local_size(plan.tile);
  return {{plan.groups * x, y}, {x, y}};
}

void define_device(runtime::Defines& defines, const Target& target) {
  dispatch::define_math(defines, target.info);
  if (target.takes_cpu_kernels()) defines.add({"ROLLED", 1});
}

void define_storage(runtime::Defines& defines, const char* name, std::int64_t type) {
  static constexpr const char* storages[] = {
#define CRISOL_DTYPE(name, CODE, ...) "STORAGE_" #CODE,
#include "crisol/dtypes.def"
  };
  if (static_cast<DType>(type) != DType::f32) defines.add({name, storages[type]});
}

void define_result(runtime::KernelSpec& spec, const Target& target, const EpilogueLayout& epilogue, int vectors,
                   std::int64_t type) {
  spec.prelude = epilogue_prelude(epilogue);
  spec.defines.add({"VEC_C", vectors});
  define_result_type(spec.defines, type);
  define_device(spec.defines, target);
}

void add_parts_sum(Plan& plan, const Target& target, const PartsSum& s) {
  runtime::KernelSpec spec{"product/gpu/gemm_parts.cl", "gemm_parts"};
  define_result(spec, target, s.epilogue, s.vectors, s.c_type);
  plan.add(
      spec, target.flat_range(s.m * s.n * s.batch / s.vectors), s.parts, s.c, s.bias, s.args,
      kernels::PartsParameters{s.m, s.n, s.batch, s.c_batch, s.c_row, s.c_column, s.bias_batch, s.split_k, s.flags, 0},
      s.columns);
}

void add_numbers_sum(Plan& plan, const Target& target, Place parts, Place c, std::int64_t count, int split_k,
                     std::int64_t type) {
  add_parts_sum(plan, target,
                {.parts = parts,
                 .c = c,
                 .bias = c,
                 .m = 1,
                 .n = count,
                 .batch = 1,
                 .c_batch = count,
                 .c_row = count,
                 .c_column = 1,
                 .c_type = type,
                 .split_k = split_k,
                 .args = no_epilogue(parts)});
}

}  // namespace crisol::ops
