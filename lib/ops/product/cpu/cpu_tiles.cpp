#include "ops/product/cpu/cpu_tiles.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/storage.h"
#include "product/sizes.h"

namespace crisol::ops {

using namespace dispatch;
using kernels::number;

namespace {

constexpr std::int64_t panels_of_block = 4;
constexpr std::int64_t deepest_panels = panels_of_block * CpuTileChoice().depth;  // The depths of a block's panels.

// 24 of 32 registers, or 12 of 16, are accumulators.
constexpr std::int32_t rows_of_tile(int vector_width, int vectors) { return (vector_width == 16 ? 24 : 12) / vectors; }

// The loop iterations of one unit of work, over its whole depth.
std::int64_t iterations_of_unit(const CpuTilePlan& plan, std::int64_t k) {
  const std::int64_t panels = plan.block_n / plan.tile_columns();
  const std::int64_t row_panels = plan.block_m / plan.tile_rows;
  const std::int64_t blocks_k = std::max<std::int64_t>(1, ceil_div(k, plan.block_k));
  const std::int64_t packing = panels * plan.tile_vectors * (k + 40);
  const std::int64_t storing = blocks_k * plan.tile_vectors * (plan.tile_rows + 2) * plan.vector_width;
  return packing + panels * row_panels * (k + storing);
}

// The number of panels in a block (at most `most`) that gives the busiest work-item the least work.
std::int64_t choose_panels(std::int64_t panels, std::int64_t batch, std::int64_t items, std::int64_t most) {
  std::int64_t best = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t per = std::min(most, panels); per >= 1; --per) {
    const std::int64_t load = ceil_div(batch * ceil_div(panels, per), items) * per;
    if (load < least) {
      least = load;
      best = per;
    }
  }
  return best;
}

}  // namespace

std::int64_t CpuTilePlan::packed_size(std::int64_t m, std::int64_t k, std::int64_t count) const noexcept {
  return count * ceil_div(m, tile_rows) * tile_rows * k;
}

std::optional<CpuTilePlan> plan_cpu_tiles(const Target& target, std::int64_t m, std::int64_t n, std::int64_t k,
                                          std::int64_t batch, bool gathers, const CpuTileChoice& choice) {
  if (m > max_cpu_size || k > max_cpu_size || batch > max_cpu_size) return std::nullopt;
  CpuTilePlan plan{};
  plan.vector_width = target.cpu_vector_width();
  plan.tile_rows = rows_of_tile(plan.vector_width, choice.vectors);
  plan.tile_vectors = choice.vectors;
  plan.block_k = static_cast<std::int32_t>(ceil_div(k, std::max<std::int64_t>(1, ceil_div(k, choice.depth))));
  plan.block_k = std::max(plan.block_k, 1);

  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{target.info.compute_units});
  const std::int64_t panels = ceil_div(n, plan.tile_columns());
  const std::int64_t row_panels = ceil_div(m, plan.tile_rows);
  const std::int64_t most_panels = std::clamp<std::int64_t>(deepest_panels / plan.block_k, 1, panels_of_block);
  std::int64_t per_column = choice.b_packed ? 1 : choose_panels(panels, batch, wanted, most_panels);
  // An item should use a block of B that it packs for many rows. If B is packed before, items do not pack, and the rows
  // are cut so that all items have the same work.
  std::int64_t blocks_m =
      std::min(row_panels, choice.b_packed ? wanted : ceil_div(wanted, batch * ceil_div(panels, per_column)));
  const auto set_blocks = [&] {
    plan.block_n = static_cast<std::int32_t>(per_column * plan.tile_columns());
    plan.block_m = static_cast<std::int32_t>(ceil_div(row_panels, blocks_m) * plan.tile_rows);
    return iterations_of_unit(plan, k);
  };
  std::int64_t iterations = set_blocks();
  while (iterations > target.loop_budget) {
    if (per_column > 1)
      --per_column;
    else if (blocks_m < row_panels)
      blocks_m = std::min(row_panels, 2 * blocks_m);
    else
      return std::nullopt;
    iterations = set_blocks();
  }
  const std::int64_t units = batch * ceil_div(n, plan.block_n) * ceil_div(m, plan.block_m);
  const std::int64_t units_of_item = std::max<std::int64_t>(1, target.loop_budget / iterations);
  plan.items = std::min(units, std::max(wanted, ceil_div(units, units_of_item)));
  const std::int64_t gathered = gathers ? plan.block_n / plan.vector_width * GATHERED_INTS(plan.vector_width) : 0;
  const std::int64_t size = choice.b_packed ? 0 : std::int64_t{plan.block_k} * plan.block_n + gathered;
  plan.slice = ceil_div(size, 16) * 16;
  return plan;
}

// The tall tile is a separate program, which takes 1.4 s of processor time to compile on PoCL and 0.5 s on Intel's
// runtime. So it is not used for products that it makes faster only by a few microseconds.
std::int32_t cpu_tile_vectors(const Target& target, std::int64_t m, std::int64_t n, std::int64_t depth) {
  constexpr std::int32_t wide = CpuTileChoice().vectors, tall = 2;
  if (target.cpu_vector_width() != 16) return wide;
  const auto computed = [&](std::int64_t rows, std::int64_t columns) {
    return ceil_div(m, rows) * rows * ceil_div(n, columns) * columns;
  };
  constexpr std::int64_t least_saving = std::int64_t{1} << 18;  // Multiply-adds.
  const std::int64_t tall_work = computed(12, 32), wide_work = computed(8, 48);
  return 10 * tall_work < 9 * wide_work && (wide_work - tall_work) * depth >= least_saving ? tall : wide;
}

runtime::Defines cpu_tile_defines(const Target& target, std::int64_t vector_width, std::int64_t rows,
                                  std::int64_t vectors) {
  runtime::Defines defines{{"VW", vector_width}, {"MR", rows}, {"NV", vectors}};
  dispatch::define_math(defines, target.info);
  return defines;
}

runtime::Defines cpu_tile_defines(const Target& target, const CpuTilePlan& plan) {
  return cpu_tile_defines(target, plan.vector_width, plan.tile_rows, plan.tile_vectors);
}

// ---- Packing ----

std::int64_t panel_columns(const Target& target) {
  return std::int64_t{CpuTileChoice().vectors} * target.cpu_vector_width();
}

std::optional<PackSource> b_source(const GemmProblem& p) {
  if (p.n > max_cpu_size || p.k > max_cpu_size) return std::nullopt;
  return PackSource{.m = p.n,
                    .k = p.k,
                    .row = p.b.column,
                    .stride0 = p.b.row,
                    .count = p.b.batch == 0 ? 1 : p.batch,
                    .batch = p.b.batch,
                    .type = p.b.type};
}

DerivedKey pack_key(const PackSource& s, std::int64_t width) {
  static constexpr char kind[] = "gemm_pack";
  return {kind,
          {s.m, s.k, s.row, s.count1, s.count2, s.stride0, s.stride1, s.stride2, s.count, s.batch, width,
           s.type | s.packed_type << 8}};
}

namespace {

std::uint64_t packed_bytes(const PackSource& s, std::int64_t width) {
  return size_of(static_cast<DType>(s.packed_type)) *
         static_cast<std::uint64_t>(s.count * ceil_div(s.m, width) * width * s.k);
}

// Calls add(spec, range, arguments…) for the launch of gemm_pack, if there is something to pack.
template <class Add>
void pack(const Target& target, const runtime::Defines& defines, Place from, const PackSource& s, std::int64_t width,
          Place to, Add&& add) {
  constexpr std::int64_t panels_at_once = 4;
  const std::int64_t panels = ceil_div(s.m, width);
  const auto units_of = [&](std::int64_t group) {
    return s.count * ceil_div(panels, group) * ceil_div(s.k, PACK_CHUNK);
  };
  // If several rows are in one cache line, several panels are packed at a time. Otherwise each line that is read would
  // be on another page than the line before. This halves the time for weights of 3 x 3 convolutions, whose rows are 9
  // elements apart.
  constexpr std::int64_t line = 16;
  const bool grouped = s.row < line && units_of(panels_at_once) >= 2 * std::int64_t{target.info.compute_units} &&
                       target.loop_budget > PACK_CHUNK * panels_at_once * (width + 1);
  const std::int64_t group = grouped ? panels_at_once : 1;
  const std::int64_t units = units_of(group);
  if (units == 0) return;
  runtime::KernelSpec spec{"product/cpu/gemm_cpu_tiled.cl", "gemm_pack", defines};
  define_elements(spec.defines, s.type);
  define_type(spec.defines, "PACKED", s.packed_type);
  add(spec, persistent_range(target, units, PACK_CHUNK * group * (width + 1)), from, to,
      kernels::PanelParameters{.batch = s.batch,
                               .row = s.row,
                               .stride0 = s.stride0,
                               .stride1 = s.stride1,
                               .stride2 = s.stride2,
                               .count1 = s.count1,
                               .count2 = s.count2,
                               .m = number(s.m),
                               .k = number(s.k),
                               .width = number(width),
                               .group = number(group),
                               .count = number(s.count),
                               .unused = 0});
}

}  // namespace

Place add_packed(Plan& plan, const Target& target, const runtime::Defines& defines, Place source,
                 const PackSource& shape, std::int64_t width) {
  const Place packed = plan.workspace(packed_bytes(shape, width));
  pack(target, defines, source, shape, width, packed, [&](const auto&... args) { plan.add(args...); });
  return packed;
}

Place derive_packed(Plan& plan, const Target& target, const runtime::Defines& defines, Place source,
                    const PackSource& shape, std::int64_t width) {
  const Place packed = plan.derive(source, pack_key(shape, width), packed_bytes(shape, width));
  pack(target, defines, source, shape, width, packed,
       [&](const auto&... args) { plan.add_to_derived(packed, args...); });
  return packed;
}

// ---- Multiplying ----

void add_cpu_tiles(Plan& plan, const Target& target, const CpuTilePlan& tiles, const CpuTileProduct& p) {
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(tiles.items * tiles.slice));
  const EpilogueArgs& e = p.args;
  runtime::KernelSpec spec{"product/cpu/gemm_cpu_tiled.cl", "gemm_multiply", cpu_tile_defines(target, tiles),
                           epilogue_prelude(p.epilogue)};
  define_elements(spec.defines, p.b_type);
  define_result_type(spec.defines, p.c_type);
  plan.add(spec, {{tiles.items}, {1}}, p.packed, p.b, p.c, p.bias, scratch, e,
           kernels::CpuProductParameters{.m = p.m,
                                         .n = p.n,
                                         .k = p.k,
                                         .bias_batch = p.bias_batch,
                                         .slice = tiles.slice,
                                         .batch = number(p.batch),
                                         .split_k = 1,
                                         .block_m = tiles.block_m,
                                         .block_n = tiles.block_n,
                                         .block_k = tiles.block_k,
                                         .flags = p.flags | epilogue_flags(p.epilogue)},
           p.a, kernels::StridedParameters{p.b_batch, p.b_row, p.b_column},
           kernels::ResultParameters{p.c_batch, p.c_row, 1, 0}, p.images, p.places);
}

}  // namespace crisol::ops
