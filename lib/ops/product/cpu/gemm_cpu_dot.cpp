#include "ops/product/cpu/gemm_cpu_dot.h"

#include <algorithm>
#include <numeric>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/storage.h"
#include "product/sizes.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

// 24 of 32 registers, or 12 of 16, are accumulators.
std::int32_t rows_of_dot(const Target& target) { return target.cpu_vector_width() == 16 ? 8 : 4; }
constexpr std::int32_t columns_of_dot = 3;

// An odd number, so that the distance between panels is not a power of two.
constexpr std::int64_t vectors_of_block = 55;
constexpr std::int64_t rows_of_block = 208;  // Rows of A and B take 730 KB, and fit into a usual L2 cache.
constexpr std::int64_t min_split = 512;      // With less depth, another part costs more than it gains.
constexpr std::int64_t max_parts = std::int64_t{1} << 24;  // Limit for the floats of workspace.

// The loop iterations of one unit of work, over its part of the depth.
std::int64_t iterations_of_unit(const DotPlan& plan, std::int64_t k, std::int64_t taps) {
  const std::int64_t depth = ceil_div(k, plan.split_k);
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(depth, plan.block_k));
  const std::int64_t vectors = ceil_div(depth, plan.vector_width) + blocks;
  const std::int64_t copying = vectors * (plan.block_m + plan.block_n + 2 * taps + 2) +
                               blocks * (plan.block_m + plan.block_n) * plan.vector_width;
  const std::int64_t tiles = std::int64_t{plan.block_m / plan.tile_m} * (plan.block_n / plan.tile_n);
  // Near the ends of the tensors, the gather loads lane by lane.
  const std::int64_t lanes = taps == 0 ? 0 : 4 * (plan.block_m + plan.block_n) * plan.vector_width;
  return copying + lanes + tiles * (vectors + blocks * (plan.tile_m * (plan.tile_n + 1) + 2));
}

}  // namespace

std::optional<DotPlan> plan_dot(const Target& target, std::int64_t m, std::int64_t n, std::int64_t k,
                                std::int64_t batch, std::int64_t gathered_taps) {
  if (m > max_cpu_size || n > max_cpu_size || batch > max_cpu_size) return std::nullopt;
  DotPlan plan{};
  plan.vector_width = target.cpu_vector_width();
  plan.tile_m = rows_of_dot(target);
  plan.tile_n = columns_of_dot;
  plan.block_k = static_cast<std::int32_t>(vectors_of_block * 16);
  const std::int64_t tiles_m = ceil_div(m, plan.tile_m);
  const std::int64_t tiles_n = ceil_div(n, plan.tile_n);
  std::int64_t blocks_m = ceil_div(tiles_m * plan.tile_m, rows_of_block / 2);
  const std::int64_t room = rows_of_block - ceil_div(tiles_m, blocks_m) * plan.tile_m;
  std::int64_t blocks_n = ceil_div(tiles_n * plan.tile_n, room);

  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{target.info.compute_units});
  const auto units_of_part = [&] { return batch * blocks_m * blocks_n; };
  const std::int64_t max_splits = std::max<std::int64_t>(
      1, std::min({ceil_div(k, min_split), max_parts / std::max<std::int64_t>(1, batch * m * n), std::int64_t{4096}}));
  std::int64_t splits = 1;
  if (units_of_part() < 4 * wanted) splits = std::min(max_splits, wanted / std::gcd(wanted, units_of_part()));
  const auto set_blocks = [&] {
    plan.split_k = static_cast<std::int32_t>(splits);
    plan.block_m = static_cast<std::int32_t>(ceil_div(tiles_m, blocks_m) * plan.tile_m);
    plan.block_n = static_cast<std::int32_t>(ceil_div(tiles_n, blocks_n) * plan.tile_n);
    return iterations_of_unit(plan, k, gathered_taps);
  };
  std::int64_t iterations = set_blocks();
  while (iterations > target.loop_budget) {
    if (splits < max_splits)
      splits = std::min(max_splits, 2 * splits);
    else if (blocks_n < tiles_n)
      blocks_n = std::min(tiles_n, 2 * blocks_n);
    else if (blocks_m < tiles_m)
      blocks_m = std::min(tiles_m, 2 * blocks_m);
    else
      return std::nullopt;
    iterations = set_blocks();
  }
  const std::int64_t units = splits * batch * ceil_div(m, plan.block_m) * ceil_div(n, plan.block_n);
  const std::int64_t units_of_item = std::max<std::int64_t>(1, target.loop_budget / iterations);
  plan.items = std::min(units, std::max(wanted, ceil_div(units, units_of_item)));
  const std::int64_t vectors = plan.block_k / plan.vector_width;
  const std::int64_t gathered = gathered_taps == 0 ? 0 : vectors * GATHERED_INTS(plan.vector_width);
  plan.slice = ceil_div(std::int64_t{plan.block_k} * (plan.block_m + plan.block_n) + gathered, 16) * 16;
  return plan;
}

namespace {

runtime::KernelSpec spec_of(const Target& target, const char* entry, const EpilogueLayout& f, std::int64_t type,
                            std::int64_t c_type) {
  runtime::Defines defines{
      {"VW", target.cpu_vector_width()}, {"DOT_M", rows_of_dot(target)}, {"DOT_N", columns_of_dot}};
  dispatch::define_math(defines, target.info);
  define_elements(defines, type);
  define_result_type(defines, c_type);
  return {"product/cpu/gemm_cpu_dot.cl", entry, defines, epilogue_prelude(f)};
}

}  // namespace

void add_dot_parts(Plan& plan, const Target& target, const GemmProblem& p, const GemmPlaces& at, Place parts,
                   std::int32_t splits) {
  const std::int64_t width = target.cpu_vector_width();
  const EpilogueArgs e = at.epilogue(p, parts);
  plan.add(spec_of(target, "gemm_dot_parts", p.epilogue, 0, p.c.type),
           persistent_range(target, p.batch * p.m * ceil_div(p.n, width), width * (splits + 2)), parts, at.c, at.bias,
           e,
           kernels::PartsParameters{p.m, p.n, p.batch, p.c.batch, p.c.row, p.c.column, 0, splits, p.kernel_flags(), 0});
}

void add_dot(Plan& plan, const Target& target, const DotPlan& cut, const DotProduct& product) {
  const GemmProblem& p = product.problem;
  const GemmPlaces& at = product.at;
  const bool is_split = cut.split_k > 1 || !holds_sums(p.c, p.k, cut.block_k);
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(cut.items * cut.slice));
  const Place to = is_split ? plan.workspace(4 * static_cast<std::uint64_t>(cut.split_k * p.batch * p.m * p.n)) : at.c;
  const MatrixLayout c = is_split ? MatrixLayout{p.n, 1, p.m * p.n} : p.c;
  const EpilogueArgs e = is_split ? no_epilogue(at.a) : at.epilogue(p, at.a);
  const std::int32_t flags = product.flags | (is_split ? 0 : p.kernel_flags());
  plan.add(spec_of(target, "gemm_dot", p.epilogue, p.a.type, is_split ? 0 : p.c.type), {{cut.items}, {1}}, at.a, at.b,
           to, at.bias, scratch, e,
           kernels::CpuProductParameters{.m = p.m,
                                         .n = p.n,
                                         .k = p.k,
                                         .bias_batch = 0,
                                         .slice = cut.slice,
                                         .batch = kernels::number(p.batch),
                                         .split_k = cut.split_k,
                                         .block_m = cut.block_m,
                                         .block_n = cut.block_n,
                                         .block_k = cut.block_k,
                                         .flags = flags},
           kernels::MatrixParameters{p.a.batch, p.a.row}, kernels::MatrixParameters{p.b.batch, p.b.column},
           kernels::ResultParameters{c.batch, c.row, c.column, p.batch * p.m * p.n}, product.images_a, product.images_b,
           product.pixels);
  if (is_split) add_dot_parts(plan, target, p, at, to, cut.split_k);
}

namespace {

bool has_contiguous_depth(const GemmProblem& p) { return p.a.column == 1 && p.b.row == 1; }

// Whether products of rows take less time than tiles. They do not transpose an operand, which costs most if few rows
// share the operand. But for each result they need a sum over the lanes at the end of the depth. Weights use row
// products only if they have few columns, because such a weight would leave most of a tile empty. The rule ignores
// whether a packed copy exists, so that results do not depend on it.
bool is_deep(const GemmProblem& p, const Target& target) {
  if (p.b_is_weight == 0) return p.k >= p.m + p.n && std::min(p.m, p.n) <= 96;
  const std::int64_t lanes = target.cpu_vector_width();
  return p.n <= lanes && p.k >= 2 * lanes;
}

}  // namespace

bool takes_row_products(const GemmProblem& p, const Target& target) {
  return is_deep(p, target) && p.a.type == p.b.type && has_contiguous_depth(p) &&
         plan_dot(target, p.m, p.n, p.k, p.batch, 0).has_value();
}

PlanOr plan_gemm_cpu_dot(const GemmProblem& p, const Target& target, std::size_t) {
  if (p.a.type != p.b.type) return "the operands have different types";
  if (!has_contiguous_depth(p)) return "the depth is not contiguous in both operands";
  const std::optional<DotPlan> cut = plan_dot(target, p.m, p.n, p.k, p.batch, 0);
  if (!cut) return "too large for the kernel's indices or the device's loops";
  Plan plan;
  add_dot(plan, target, *cut, {.problem = p, .at = gemm_places(p)});
  return plan;
}

}  // namespace crisol::ops
