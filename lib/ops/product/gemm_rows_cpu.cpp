// Only for lib/ops/conv, until it is converted to plans; see gemm_dot.h.
#include "ops/product/gemm_rows_cpu.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_epilogue.h"
#include "runtime/memory_pool.h"

namespace crisol::ops {
inline namespace before_plans {

namespace {

constexpr std::int64_t most_int = std::numeric_limits<std::int32_t>::max() / 2;
// An odd number of vectors, so that panels do not lie a power of two apart.
constexpr std::int64_t vectors_of_block = 55;
constexpr std::int64_t rows_of_block = 208;                    // Of A and B together: 730 KB of a usual L2 cache.
constexpr std::int64_t least_split = 512;                      // Depth below which another split does not pay.
constexpr std::int64_t most_partials = std::int64_t{1} << 24;  // Floats of workspace.

// Loop iterations of one unit of work, over its part of the depth.
std::int64_t iterations_of_unit(const RowPlan& plan, std::int64_t k, std::int64_t taps) {
  const std::int64_t depth = ceil_div(k, plan.splits);
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(depth, plan.block_k));
  const std::int64_t vectors = ceil_div(depth, plan.vector_width) + blocks;
  const std::int64_t copying = vectors * (plan.block_m + plan.block_n + 2 * taps + 2) +
                               blocks * (plan.block_m + plan.block_n) * plan.vector_width;
  const std::int64_t tiles = std::int64_t{plan.block_m / plan.tile_m} * (plan.block_n / plan.tile_n);
  // The gather falls back to single lanes near the ends of the tensors.
  const std::int64_t lanes = taps == 0 ? 0 : 4 * (plan.block_m + plan.block_n) * plan.vector_width;
  return copying + lanes + tiles * (vectors + blocks * (plan.tile_m * (plan.tile_n + 1) + 2));
}

}  // namespace

std::optional<RowPlan> plan_rows(const DeviceInfo& info, int vector_width, std::int64_t m, std::int64_t n,
                                 std::int64_t k, std::int64_t batch, std::int64_t gathered_taps) {
  if (m > most_int || n > most_int || batch > most_int) return std::nullopt;
  RowPlan plan{};
  plan.vector_width = vector_width;
  plan.tile_m = vector_width == 16 ? 8 : 4;  // 24 accumulators of 32 registers, or 12 of 16.
  plan.tile_n = 3;
  plan.block_k = static_cast<std::int32_t>(vectors_of_block * 16);
  const std::int64_t tiles_m = ceil_div(m, plan.tile_m);
  const std::int64_t tiles_n = ceil_div(n, plan.tile_n);
  std::int64_t blocks_m = ceil_div(tiles_m * plan.tile_m, rows_of_block / 2);
  const std::int64_t room = rows_of_block - ceil_div(tiles_m, blocks_m) * plan.tile_m;
  std::int64_t blocks_n = ceil_div(tiles_n * plan.tile_n, room);

  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{info.compute_units});
  const auto units_of_split = [&] { return batch * blocks_m * blocks_n; };
  const std::int64_t budget = loop_budget(info);
  const std::int64_t most_splits = std::max<std::int64_t>(
      1, std::min(
             {ceil_div(k, least_split), most_partials / std::max<std::int64_t>(1, batch * m * n), std::int64_t{4096}}));
  std::int64_t splits = 1;
  if (units_of_split() < 4 * wanted) splits = std::min(most_splits, wanted / std::gcd(wanted, units_of_split()));
  const auto set_blocks = [&] {
    plan.splits = static_cast<std::int32_t>(splits);
    plan.block_m = static_cast<std::int32_t>(ceil_div(tiles_m, blocks_m) * plan.tile_m);
    plan.block_n = static_cast<std::int32_t>(ceil_div(tiles_n, blocks_n) * plan.tile_n);
    return iterations_of_unit(plan, k, gathered_taps);
  };
  std::int64_t iterations = set_blocks();
  while (iterations > budget) {
    if (splits < most_splits)
      splits = std::min(most_splits, 2 * splits);
    else if (blocks_n < tiles_n)
      blocks_n = std::min(tiles_n, 2 * blocks_n);
    else if (blocks_m < tiles_m)
      blocks_m = std::min(tiles_m, 2 * blocks_m);
    else
      return std::nullopt;
    iterations = set_blocks();
  }
  const std::int64_t units = splits * batch * ceil_div(m, plan.block_m) * ceil_div(n, plan.block_n);
  const std::int64_t units_of_item = std::max<std::int64_t>(1, budget / iterations);
  plan.items = std::min(units, std::max(wanted, ceil_div(units, units_of_item)));
  const std::int64_t columns = gathered_taps == 0 ? 0 : 7;  // Ints that the gather remembers of each.
  plan.slice = ceil_div(std::int64_t{plan.block_k} * (plan.block_m + plan.block_n + columns), 16) * 16;
  return plan;
}

RowKernels resolve_rows(runtime::DeviceState& device, const RowPlan& plan, const Epilogue* epilogue) {
  runtime::Defines defines{{"VW", plan.vector_width}, {"DOT_M", plan.tile_m}, {"DOT_N", plan.tile_n}};
  if (!runtime::info_of(device).fast_fma) defines.add({"NO_FMA", 1});
  return {
      runtime::resolve(device, {"product/gemm_dot_cpu.cl", "gemm_dot", defines, epilogue_prelude(epilogue)}),
      runtime::resolve(device, {"product/gemm_dot_cpu.cl", "gemm_sum_partials", defines, epilogue_prelude(epilogue)})};
}

namespace {

runtime::BlockPtr allocate_partials(const RowPlan& plan, const Gemm& p) {
  if (plan.splits == 1) return nullptr;
  return runtime::allocate(p.device, 4 * static_cast<std::uint64_t>(plan.splits * p.batch * p.m * p.n));
}

void launch_sum(const RowPlan& plan, const RowKernels& kernels, const Gemm& p, runtime::BufferView partials) {
  const std::int64_t units = p.batch * p.m * ceil_div(p.n, plan.vector_width);
  const std::int64_t iterations = plan.vector_width * (plan.splits + 2);
  const EpilogueArguments e = epilogue_arguments(p.epilogue, partials);
  runtime::launch(p.device, kernels.sum, persistent_range(p.device, units, iterations), partials, p.c.first, p.bias,
                  e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2],
                  static_cast<std::int32_t>(p.m), static_cast<std::int32_t>(p.n), static_cast<std::int32_t>(p.batch),
                  plan.splits, p.c.batch, std::int64_t{0}, p.c.row, p.c.column, p.flags | epilogue_flags(p.epilogue));
}

}  // namespace

void launch_rows(const RowPlan& plan, const RowKernels& kernels, const RowProduct& product) {
  const Gemm& p = product.problem;
  const runtime::BlockPtr scratch =
      runtime::allocate(p.device, 4 * static_cast<std::uint64_t>(plan.items * plan.slice));
  const runtime::BlockPtr partials = allocate_partials(plan, p);
  const runtime::BufferView partials_view{partials.get(), 0};
  const Matrix c = partials ? Matrix{partials_view, p.n, 1, p.m * p.n} : p.c;
  const EpilogueArguments e = epilogue_arguments(partials ? nullptr : p.epilogue, p.a.first);
  const std::int32_t flags = product.flags | (partials ? 0 : p.flags | epilogue_flags(p.epilogue));
  runtime::launch(
      p.device, kernels.multiply, {{plan.items}, {1}}, p.a.first, p.b.first, c.first, p.bias,
      runtime::BufferView{scratch.get(), 0}, e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2],
      static_cast<std::int32_t>(p.m), static_cast<std::int32_t>(p.n), p.k, static_cast<std::int32_t>(p.batch),
      plan.splits,
      Shape{p.a.batch, p.b.batch, c.batch, product.bias_batch, p.batch * p.m * p.n, c.row, c.column, plan.slice},
      product.places, product.plane, product.walk, plan.block_m, plan.block_n, plan.block_k, flags);
  if (partials) launch_sum(plan, kernels, p, partials_view);
}

}  // namespace before_plans
}  // namespace crisol::ops
