// Matrix products on matrix units: gemm_matrix.cl, and gemm_parts.cl where the depth is cut.
#include "ops/gemm_matrix.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "ops/gemm_tiles.h"
#include "ops/persistent.h"

namespace crisol::ops {

namespace {

using Kind = MatrixUnit::Kind;

// A wave holds wave_rows x wave_columns sums, a half of its registers; Intel's have 4 KB a wave.
constexpr MatrixTile tiles_32[] = {
    {128, 128, 64, 32, 1.0}, {64, 64, 32, 32, 1.3}, {128, 32, 32, 32, 1.6}, {32, 128, 32, 32, 1.6}};
constexpr MatrixTile tiles_64[] = {
    {128, 128, 64, 64, 1.0}, {64, 64, 32, 32, 1.3}, {128, 32, 32, 32, 1.6}, {32, 128, 32, 32, 1.6}};
constexpr MatrixTile tiles_xmx[] = {{64, 64, 16, 16, 1.0}};

constexpr std::int64_t most_groups = std::int64_t{1} << 24;  // The kernel counts work-items in 32 bits.

// All loops of an item together where everything is rolled, as on CPUs: for each slice of the depth the 64 sums' steps.
constexpr std::int64_t emulated_rounds = 2400;

}  // namespace

int slice_depth(Precision precision) noexcept { return precision == Precision::tf32 ? 16 : 32; }

std::span<const MatrixTile> matrix_tiles(Kind kind) {
  if (kind == Kind::xmx8 || kind == Kind::xmx16) return tiles_xmx;
  if (facts_of(kind).lanes == 64) return tiles_64;
  return tiles_32;
}

MatrixPlan cut_matrix(const MatrixTile& tile, const Gemm& p, int parts) {
  const std::int64_t step = std::int64_t{8} * slice_depth(p.precision);  // A part is worth its beginning.
  MatrixPlan plan{tile, 1, ceil_div(ceil_div(p.k, parts), step) * step, 0};
  plan.parts = static_cast<int>(ceil_div(p.k, plan.part_depth));
  if (plan.parts == 1) plan.part_depth = p.k;
  plan.groups = ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.columns) * p.batch * plan.parts;
  return plan;
}

MatrixPlan plan_matrix(const DeviceInfo& info, const Gemm& p, int most_parts) {
  // Intel counts execution units, of which eight or sixteen make what a work-group runs on.
  const bool intel = p.unit.kind == Kind::xmx8 || p.unit.kind == Kind::xmx16;
  const std::int64_t units = std::max(1, intel ? info.compute_units / 16 : info.compute_units);
  MatrixPlan best;
  double least = 0;
  for (const MatrixTile& tile : matrix_tiles(p.unit.kind))
    for (int parts = 1; parts <= most_parts; parts *= 2) {
      const MatrixPlan plan = cut_matrix(tile, p, parts);
      if (plan.parts < parts || (parts > 1 && plan.groups > 4 * units)) break;
      // Rounds of groups, two at a time on each unit; what a part costs beside its depth: written and read again.
      const double of_group = static_cast<double>(plan.part_depth) * tile.effort + (plan.parts > 1 ? 1024 : 256);
      const double cost =
          static_cast<double>(ceil_div(plan.groups, units)) * tile.rows * static_cast<double>(tile.columns) * of_group;
      if (best.groups != 0 && cost >= least) continue;
      best = plan;
      least = cost;
    }
  return best;
}

const char* refuse_matrix_unit(const Gemm& problem, const DeviceInfo& info) {
  if (problem.precision == Precision::fp32) return "the precision is fp32";
  if (problem.unit.kind == Kind::none) return "the device has no matrix units for the precision";
  if (const char* reason = refuse_tiled_operands(problem)) return reason;
  const bool too_deep = problem.k / slice_depth(problem.precision) + 2 > loop_budget(info) / emulated_rounds;
  return problem.unit.emulated && too_deep ? "too deep" : nullptr;
}

const char* refuse_gemm_matrix(const Gemm& problem, const DeviceInfo& info) {
  if (const char* reason = refuse_matrix_unit(problem, info)) return reason;
  const Gemm p = with_rows_along(problem);
  return plan_matrix(info, p, most_parts(p)).groups > most_groups ? "too many tiles" : nullptr;
}

void run_gemm_matrix(const Gemm& problem) {
  const Gemm p = with_rows_along(problem);
  run_gemm_matrix(p, plan_matrix(runtime::info_of(p.device), p, most_parts(p)));
}

void run_gemm_matrix(const Gemm& p, const MatrixPlan& plan) {
  const MatrixUnitFacts& unit = facts_of(p.unit.kind);
  const MatrixTile& tile = plan.tile;
  const bool two_slices = 2 * tile.local_bytes() <= static_cast<std::int64_t>(runtime::info_of(p.device).local_memory);
  runtime::KernelSpec spec{"gemm_matrix.cl", "gemm_matrix"};
  for (const auto& [name, value] : {std::pair<const char*, int>{"UNIT", static_cast<int>(p.unit.kind)},
                                    {"PRECISION", static_cast<int>(p.precision)},
                                    {"BM", tile.rows},
                                    {"BN", tile.columns},
                                    {"WM", tile.wave_rows},
                                    {"WN", tile.wave_columns},
                                    {"STAGES", two_slices ? 2 : 1}})
    spec.defines.add({name, value});
  if (p.unit.emulated) spec.defines.add({"EMULATED", 1});
  launch_tiles(p, {plan.parts, plan.part_depth, plan.groups, {unit.lanes, tile.waves()}}, spec, unit.run);
}

}  // namespace crisol::ops
