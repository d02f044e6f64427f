// The variant "cpu_tiled": register tiles of packed operands.
#include <algorithm>
#include <string>
#include <vector>

#include "base/ceil_div.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/product/cpu/gemm_cpu_dot.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t depth_of_panels = 1024;
constexpr std::int32_t vectors_of_tile = CpuTileChoice().vectors;
constexpr std::int32_t vectors_of_tall_tile = 2;

// Whether C has no contiguous rows, which the kernel needs. If C has contiguous columns, the transposed product has
// contiguous rows.
bool needs_transposing(const GemmProblem& p) { return p.c.column != 1 && p.epilogue.empty(); }

// Whether so many rows use B that all items share one packed copy. Then the items divide the tiles evenly. Otherwise
// each item packs its own part of B, which stays in its cache.
bool shares_b(const GemmProblem& p) {
  constexpr std::int64_t many_rows = 384;
  return p.m >= many_rows && b_source(p);
}

// The blocks that an item packs must leave space in its cache. If all of B is packed before, the cache holds one panel
// of B at a time. The depth of a block does not depend on whether a weight's packed copy exists, so the sums do not
// depend on it either.
CpuTileChoice choose_tiles(const GemmProblem& p, const Target& target) {
  return {.b_packed = p.b_kept != 0 || shares_b(p),
          // A weight has one packed copy for products with any number of rows. It is made for the wide tiles.
          .vectors = p.b_is_weight != 0 ? vectors_of_tile : cpu_tile_vectors(target, p.m, p.n, p.k * p.batch),
          .depth = shares_b(p) ? depth_of_panels : CpuTileChoice().depth};
}

// Contiguous rows of f32 are read in place, because packing takes another launch and does not make tiles faster.
// Without packing, products of size 512, 1024 and 2048 take 0.88 to 0.95 of the time, and 2048 rows with 64 columns
// take 0.44 of it.
bool reads_rows(const GemmProblem& p) { return p.a.column == 1 && p.a.type == 0; }

constexpr std::int64_t config_depths[] = {256, 512, 1024};

CpuTileChoice choice_of(std::size_t config) {
  return {.b_packed = config % 2 != 0,
          .vectors = config / 2 % 2 != 0 ? vectors_of_tall_tile : vectors_of_tile,
          .depth = config_depths[config / 4]};
}

const char* against_config(const GemmProblem& p, const Target& target, const CpuTileChoice& choice) {
  if (choice.vectors != vectors_of_tile && target.cpu_vector_width() != 16) return "made for vectors of 16";
  return choice.b_packed && !b_source(p) ? "the right operand is too large to be packed" : nullptr;
}

// For Plan::estimate. There is no model of the times. So configurations are ordered by their distance to the usual
// choice.
double distance(const CpuTileChoice& a, const CpuTileChoice& b) {
  const double depths =
      static_cast<double>(std::max(a.depth, b.depth)) / static_cast<double>(std::min(a.depth, b.depth));
  return (a.vectors != b.vectors ? 1 : 0) + (a.b_packed != b.b_packed ? 1.5 : 0) + depths;
}

Plan plan_of(const GemmProblem& p, const GemmPlaces& at, const Target& target, const CpuTilePlan& tiles,
             const CpuTileChoice& choice) {
  Plan plan;
  const runtime::Defines defines = cpu_tile_defines(target, tiles);
  const std::int64_t a_count = p.a.batch == 0 ? 1 : p.batch;
  const bool rows = reads_rows(p);
  const Place a = rows ? at.a
                       : add_packed(plan, target, defines, at.a,
                                    {.m = p.m,
                                     .k = p.k,
                                     .row = p.a.row,
                                     .stride0 = p.a.column,
                                     .count = a_count,
                                     .batch = p.a.batch,
                                     .type = p.a.type},
                                    tiles.tile_rows);
  const Place b = !choice.b_packed     ? at.b
                  : p.b_is_weight != 0 ? derive_packed(plan, target, defines, at.b, *b_source(p), tiles.tile_columns())
                                       : add_packed(plan, target, defines, at.b, *b_source(p), tiles.tile_columns());
  const bool as_part = !holds_sums(p.c, p.k, tiles.block_k);
  const Place c = as_part ? plan.workspace(4 * static_cast<std::uint64_t>(p.batch * p.m * p.n)) : at.c;
  const MatrixLayout to = as_part ? MatrixLayout{p.n, 1, p.m * p.n} : p.c;
  const std::int64_t columns_batch =
      p.b.batch == 0 ? 0 : ceil_div(p.n, tiles.tile_columns()) * tiles.tile_columns() * p.k;
  add_cpu_tiles(plan, target, tiles,
                {.packed = a,
                 .b = b,
                 .c = c,
                 .bias = at.bias,
                 .b_type = choice.b_packed ? 0 : p.b.type,
                 .c_type = to.type,
                 .m = p.m,
                 .n = p.n,
                 .k = p.k,
                 .batch = p.batch,
                 .a = {a_count == 1 ? 0
                       : rows       ? p.a.batch
                                    : tiles.packed_size(p.m, p.k, 1),
                       p.a.row},
                 .b_batch = choice.b_packed ? columns_batch : p.b.batch,
                 .c_batch = to.batch,
                 .bias_batch = 0,
                 .c_row = to.row,
                 .b_row = p.b.row,
                 .b_column = p.b.column,
                 .flags = (as_part ? 0 : p.gemm_flags()) | (choice.b_packed ? b_packed : 0) | (rows ? a_rows : 0),
                 .epilogue = as_part ? EpilogueLayout() : p.epilogue,
                 .args = as_part ? no_epilogue(a) : at.epilogue(p, a)});
  if (as_part) add_dot_parts(plan, target, p, at, c, 1);
  return plan;
}

}  // namespace

std::span<const std::string> cpu_tiled_configs() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < 4 * std::size(config_depths); ++i) {
      const CpuTileChoice choice = choice_of(i);
      made.push_back((choice.vectors == vectors_of_tile ? "wide/" : "tall/") + std::to_string(choice.depth) +
                     (choice.b_packed ? "/packed" : ""));
    }
    return made;
  }();
  return names;
}

PlanOr plan_gemm_cpu_tiled(const GemmProblem& problem, const Target& target, std::size_t config) {
  const bool transposes = needs_transposing(problem);
  const GemmProblem p = transposes ? transposed(problem) : problem;
  const GemmPlaces at = transposes ? transposed(gemm_places(problem)) : gemm_places(problem);
  if (p.c.column != 1) return "neither stride of the result is 1";
  if (p.b.row != 1 && p.b.column != 1) return "neither stride of the right operand is 1";
  const CpuTileChoice choice = config == own_config ? choose_tiles(p, target) : choice_of(config);
  if (config != own_config)
    if (const char* reason = against_config(p, target, choice)) return reason;
  const std::optional<CpuTilePlan> tiles = plan_cpu_tiles(target, p.m, p.n, p.k, p.batch, false, choice);
  if (!tiles && config == own_config) return "too large for the kernel's indices or the device's loops";
  if (!tiles) return "too large for the device's loops";
  Plan plan = plan_of(p, at, target, *tiles, choice);
  plan.estimate = distance(choice, choose_tiles(p, target));
  if (config == own_config && takes_row_products(problem, target))
    return PlanOr::only_forced(std::move(plan), "products of rows take less, because the depth is large");
  return plan;
}

}  // namespace crisol::ops
