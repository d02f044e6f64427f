// Only for lib/ops/conv, until it is converted to plans; see cpu_tiles.h.
#include "ops/product/gemm_cpu.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_epilogue.h"

namespace crisol::ops {
inline namespace before_plans {

namespace {

constexpr std::int64_t most_int = std::numeric_limits<std::int32_t>::max() / 2;
constexpr std::int64_t panels_of_block = 4;
constexpr std::int32_t vectors_of_tile = TileChoice().vectors;

// 24 accumulators of 32 registers, or 12 of 16.
constexpr std::int32_t rows_of_tile(int vector_width, int vectors) { return (vector_width == 16 ? 24 : 12) / vectors; }

// Loop iterations of one unit of work, over its whole depth.
std::int64_t iterations_of_unit(const TilePlan& plan, std::int64_t k) {
  const std::int64_t panels = plan.block_n / plan.tile_columns();
  const std::int64_t row_panels = plan.block_m / plan.tile_rows;
  const std::int64_t blocks_k = std::max<std::int64_t>(1, ceil_div(k, plan.block_k));
  const std::int64_t packing = panels * plan.tile_vectors * (k + 40);
  const std::int64_t storing = blocks_k * plan.tile_vectors * (plan.tile_rows + 2) * plan.vector_width;
  return packing + panels * row_panels * (k + storing);
}

// The number of panels a block, 4 or fewer, with which the busiest work-item has least to do.
std::int64_t choose_panels(std::int64_t panels, std::int64_t batch, std::int64_t items) {
  std::int64_t best = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t per = std::min(panels_of_block, panels); per >= 1; --per) {
    const std::int64_t load = ceil_div(batch * ceil_div(panels, per), items) * per;
    if (load < least) {
      least = load;
      best = per;
    }
  }
  return best;
}

}  // namespace

std::int64_t TilePlan::packed_size(std::int64_t m, std::int64_t k, std::int64_t count) const noexcept {
  return count * ceil_div(m, tile_rows) * tile_rows * k;
}

std::optional<TilePlan> plan_tiles(const DeviceInfo& info, int vector_width, std::int64_t m, std::int64_t n,
                                   std::int64_t k, std::int64_t batch, int column_ints, const TileChoice& choice) {
  if (m > most_int || k > most_int || batch > most_int) return std::nullopt;
  TilePlan plan{};
  plan.vector_width = vector_width;
  plan.tile_rows = rows_of_tile(vector_width, choice.vectors);
  plan.tile_vectors = choice.vectors;
  plan.block_k = static_cast<std::int32_t>(ceil_div(k, std::max<std::int64_t>(1, ceil_div(k, choice.depth))));
  plan.block_k = std::max(plan.block_k, 1);

  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{info.compute_units});
  const std::int64_t panels = ceil_div(n, plan.tile_columns());
  const std::int64_t row_panels = ceil_div(m, plan.tile_rows);
  std::int64_t per_column = choice.b_packed ? 1 : choose_panels(panels, batch, wanted);
  // A block of B that an item packs should serve many rows. One that is packed serves any number of items: as many
  // blocks of rows as items give all of them the same work.
  std::int64_t blocks_m =
      std::min(row_panels, choice.b_packed ? wanted : ceil_div(wanted, batch * ceil_div(panels, per_column)));
  const auto set_blocks = [&] {
    plan.block_n = static_cast<std::int32_t>(per_column * plan.tile_columns());
    plan.block_m = static_cast<std::int32_t>(ceil_div(row_panels, blocks_m) * plan.tile_rows);
    return iterations_of_unit(plan, k);
  };
  std::int64_t iterations = set_blocks();
  const std::int64_t budget = loop_budget(info);
  while (iterations > budget) {
    if (per_column > 1)
      --per_column;
    else if (blocks_m < row_panels)
      blocks_m = std::min(row_panels, 2 * blocks_m);
    else
      return std::nullopt;
    iterations = set_blocks();
  }
  const std::int64_t units = batch * ceil_div(n, plan.block_n) * ceil_div(m, plan.block_m);
  const std::int64_t units_of_item = std::max<std::int64_t>(1, budget / iterations);
  plan.items = std::min(units, std::max(wanted, ceil_div(units, units_of_item)));
  const std::int64_t size =
      choice.b_packed ? 0 : std::int64_t{plan.block_k} * plan.block_n + std::int64_t{column_ints} * plan.block_n;
  plan.slice = ceil_div(size, 16) * 16;
  return plan;
}

TileKernels resolve_tiles(runtime::DeviceState& device, const TilePlan& plan, const Epilogue* epilogue) {
  runtime::Defines defines{{"VW", plan.vector_width}, {"MR", plan.tile_rows}, {"NV", plan.tile_vectors}};
  if (!runtime::info_of(device).fast_fma) defines.add({"NO_FMA", 1});
  return {runtime::resolve(device, {"product/gemm_cpu.cl", "gemm_pack", defines}),
          runtime::resolve(device, {"product/gemm_cpu.cl", "gemm_multiply", defines, epilogue_prelude(epilogue)})};
}

namespace {

void launch_pack(runtime::DeviceState& device, runtime::Kernel& pack, const PackSource& source, std::int64_t width,
                 runtime::BufferView packed) {
  constexpr std::int64_t chunk = 512;  // PACK_CHUNK of product/gemm_pack.h.
  constexpr std::int64_t panels_together = 4;
  const DeviceInfo& info = runtime::info_of(device);
  const std::int64_t panels = ceil_div(source.m, width);
  const auto units_of = [&](std::int64_t group) {
    return source.count * ceil_div(panels, group) * ceil_div(source.k, chunk);
  };
  // Rows side by side are read some panels at a time, or every line read would lie on another page than the one before.
  const bool together = source.row == 1 && units_of(panels_together) >= 2 * std::int64_t{info.compute_units} &&
                        loop_budget(info) > chunk * panels_together * (width + 1);
  const std::int64_t group = together ? panels_together : 1;
  const std::int64_t units = units_of(group);
  if (units == 0) return;
  const std::int64_t iterations = chunk * group * (width + 1);
  runtime::launch(device, pack, persistent_range(device, units, iterations), source.first, packed,
                  static_cast<std::int32_t>(source.m), static_cast<std::int32_t>(source.k),
                  static_cast<std::int32_t>(width), static_cast<std::int32_t>(group), source.row, source.count1,
                  source.count2, source.stride0, source.stride1, source.stride2,
                  static_cast<std::int32_t>(source.count), source.batch);
}

}  // namespace

DerivedKey pack_key(const PackSource& s, std::int64_t width) {
  static constexpr char kind[] = "gemm_pack";
  return {kind,
          {static_cast<std::int64_t>(s.first.offset), s.m, s.k, s.row, s.count1, s.count2, s.stride0, s.stride1,
           s.stride2, s.count, s.batch, width}};
}

runtime::BlockPtr packed_operand(runtime::DeviceState& device, runtime::Kernel& pack, const PackSource& source,
                                 std::int64_t width, Storage* owner) {
  const std::uint64_t version = owner == nullptr ? 0 : owner->version.load(std::memory_order_relaxed);
  DerivedData::Found found;
  if (owner != nullptr) found = owner->find_derived(pack_key(source, width), version);
  if (found.data) return std::static_pointer_cast<runtime::Block>(found.data);
  const std::int64_t floats = source.count * ceil_div(source.m, width) * width * source.k;
  runtime::BlockPtr block = runtime::allocate(device, 4 * static_cast<std::uint64_t>(floats));
  launch_pack(device, pack, source, width, {block.get(), 0});
  if (!found.worth_keeping) return block;
  return std::static_pointer_cast<runtime::Block>(owner->derived.keep(pack_key(source, width), version, block));
}

void launch_tiles(runtime::DeviceState& device, const TilePlan& plan, const TileKernels& kernels,
                  const TileProduct& p) {
  const EpilogueArguments e = epilogue_arguments(p.epilogue, p.packed);
  runtime::launch(device, kernels.multiply, {{plan.items}, {1}}, p.packed, p.b, p.c, p.bias, p.scratch, e.first,
                  e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], static_cast<std::int32_t>(p.m), p.n,
                  static_cast<std::int32_t>(p.k), static_cast<std::int32_t>(p.batch),
                  Shape{p.a_batch, p.b_batch, p.c_batch, p.bias_batch, p.c_row, p.b_row, p.b_column, plan.slice},
                  p.plane, p.walk, p.b_size, p.to_image, plan.block_m, plan.block_n, plan.block_k,
                  p.flags | epilogue_flags(p.epilogue));
}

std::int64_t panel_columns(const runtime::DeviceState& device) {
  return std::int64_t{vectors_of_tile} * cpu_vector_width(device);
}

}  // namespace before_plans
}  // namespace crisol::ops
