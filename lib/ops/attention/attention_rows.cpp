// The variants for CPUs. "rows" takes a few rows of queries at a time, so that their scores stay in the cache of a
// core. "single" takes the queries one by one.
#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "ops/attention/attention.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/storage.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t tile_vectors = 2;  // 32 columns: heads usually have 32, 64 or 128 elements.
constexpr std::int64_t most_keys = 512;   // Keys that are taken at a time.
constexpr std::int64_t most_rows = 240;   // Rows in a unit of work.
constexpr std::int64_t fewest_rows = 4;   // With fewer rows, packing the keys takes longer than it saves.

// Blocks of the gradients, whose weights and gradients of scores stay in the L2 cache. With all keys in one block, keys
// are packed once and scores computed once.
constexpr std::int64_t most_gradient_keys = 1024, most_gradient_rows = 96, most_gradient_scores = 48 << 10;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) { return ceil_div(value, step) * step; }

// Small units of work, so that no core waits long for another core.
std::int64_t units_wanted(const Target& target) {
  return std::max<std::int64_t>(8, 2 * std::int64_t{target.info.compute_units});
}

/// A plan of one launch. An item has `slice` floats of scratch.
Plan plan_of(runtime::KernelSpec kernel, const AttentionProblem& p, kernels::AttentionParameters parameters,
             std::int64_t units, const Target& target, std::int64_t slice) {
  const auto [q, k, v, bias, y] = operands<5>();
  Plan plan;
  const runtime::NdRange range{{std::min(units, 2 * units_wanted(target))}, {1}};
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(range.global[0] * slice));
  parameters.slice = slice;
  define_elements(kernel.defines, p.type);
  plan.add(kernel, range, q, k, v, bias, y, scratch, CallScalar{0}, parameters, p.q.parameters(), p.k.parameters(),
           p.v.parameters(), p.bias.parameters(), p.y.parameters());
  return plan;
}

}  // namespace

PlanOr plan_attention_rows(const AttentionProblem& p, const Target& target, std::size_t) {
  if (const char* reason = against_operands(p)) return reason;

  const std::int64_t vector = target.cpu_vector_width(), tile_rows = vector == 16 ? 12 : 6;
  const std::int64_t tile_columns = tile_vectors * vector;
  const std::int64_t key_block = std::min(rounded_up(p.keys, tile_columns), most_keys);
  const std::int64_t width = rounded_up(p.columns, tile_columns);
  const std::int64_t blocks = std::max(ceil_div(p.rows, most_rows), ceil_div(units_wanted(target), p.head_count()));
  const std::int64_t block = rounded_up(ceil_div(p.rows, blocks), tile_rows);
  const std::int64_t units = p.head_count() * ceil_div(p.rows, block);
  const std::int64_t panels = block / tile_rows;
  const std::int64_t iterations =
      p.keys * (p.depth + width + panels * (p.depth / tile_columns + width / tile_columns + 2 * tile_rows));
  if (const char* reason = target.against_iterations(iterations)) return reason;
  const std::int64_t slice = rounded_up(
      key_block * (p.depth + width + tile_rows) + block * (width + 2) + tile_rows * rounded_up(p.depth, vector), 16);

  kernels::AttentionParameters parameters = p.parameters();
  parameters.block = kernels::number(block);
  parameters.key_block = kernels::number(key_block);
  Plan plan = plan_of(
      {"attention/attention_cpu.cl", "attention_rows", cpu_tile_defines(target, vector, tile_rows, tile_vectors)}, p,
      parameters, units, target, slice);
  if (p.rows < fewest_rows) return PlanOr::only_forced(std::move(plan), "too few rows for packed keys");
  return unless_kept(p, std::move(plan));
}

PlanOr plan_attention_single(const AttentionProblem& p, const Target& target, std::size_t) {
  if (const char* reason = against_operands(p)) return reason;
  if (p.k.column != 1 || p.v.column != 1) return "the rows of keys or values are not contiguous";
  const std::int64_t vector = target.cpu_vector_width(), units = p.head_count() * p.rows;
  const std::int64_t iterations =
      ceil_div(units, units_wanted(target)) * p.keys * (ceil_div(p.depth, vector) + ceil_div(p.columns, vector) + 1);
  if (const char* reason = target.against_iterations(iterations)) return reason;
  runtime::Defines defines{{"VW", vector}};
  define_math(defines, target.info);
  Plan plan = plan_of({"attention/attention_single.cl", "attention_single", defines}, p, p.parameters(), units, target,
                      rounded_up(p.keys, 16));
  if (p.rows >= fewest_rows) return PlanOr::only_forced(std::move(plan), "packed keys take less time for many rows");
  return unless_kept(p, std::move(plan));
}

PlanOr plan_attention_backward_rows(const AttentionGradientProblem& problem, const Target& target, std::size_t) {
  const AttentionProblem& p = problem.forward;
  if (const char* reason = against_operands(p)) return reason;

  const std::int64_t vector = target.cpu_vector_width(), tile_rows = vector == 16 ? 12 : 6;
  const std::int64_t tile_columns = tile_vectors * vector;
  const std::int64_t key_block = std::min(rounded_up(p.keys, tile_columns), most_gradient_keys);
  const std::int64_t most_rows_of_block = std::min(most_gradient_rows, most_gradient_scores / key_block);
  const std::int64_t block = rounded_up(ceil_div(p.rows, ceil_div(p.rows, most_rows_of_block)), tile_rows);
  const std::int64_t widths = rounded_up(p.depth, tile_columns) + rounded_up(p.columns, tile_columns);
  const std::int64_t heads_of_item = ceil_div(p.head_count(), units_wanted(target));
  const std::int64_t tiles = ceil_div(p.rows, tile_rows) * ceil_div(p.keys, tile_rows);
  if (const char* reason = target.against_iterations(heads_of_item * tiles * 2 * widths)) return reason;
  const std::int64_t slice =
      rounded_up(key_block * (p.depth + p.columns) + block * (widths + 2 * (key_block + vector) + 3) +
                     (p.keys + tile_rows) * widths + (key_block + block) * rounded_up(p.depth, tile_columns),
                 16);

  kernels::AttentionParameters parameters = p.parameters();
  parameters.block = kernels::number(block);
  parameters.key_block = kernels::number(key_block);
  parameters.slice = slice;
  runtime::KernelSpec kernel{"attention/attention_backward_cpu.cl", "attention_backward_rows",
                             cpu_tile_defines(target, vector, tile_rows, tile_vectors)};
  define_elements(kernel.defines, p.type);
  const auto [q, k, v, bias, y, dy, dq, dk, dv] = operands<9>();
  Plan plan;
  const runtime::NdRange range{{std::min(p.head_count(), units_wanted(target))}, {1}};
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(range.global[0] * slice));
  plan.add(kernel, range, q, k, v, bias, y, dy, dq, dk, dv, scratch, CallScalar{0}, parameters, p.q.parameters(),
           p.k.parameters(), p.v.parameters(), p.bias.parameters(), p.y.parameters(), problem.dy.parameters(),
           problem.dq.parameters(), problem.dk.parameters(), problem.dv.parameters());
  if (p.head_count() < target.info.compute_units)
    return PlanOr::only_forced(std::move(plan), "a core without a head would wait");
  return plan;
}

}  // namespace crisol::ops
