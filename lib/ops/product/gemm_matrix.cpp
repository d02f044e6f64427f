// Matrix products on matrix units: gemm_matrix.cl, and gemm_parts.cl where the depth is cut.
#include "ops/product/gemm_matrix.h"

#include <string>
#include <vector>

#include "ops/product/gemm_tiles.h"
#include "ops/product/tile_settings.h"

namespace crisol::ops {

namespace {

MatrixPlan plan_of(const Gemm& p, const DeviceInfo& info) {
  return plan_matrix_among(matrix_tiles(p.unit.kind), info, work_of(p), most_parts(p));
}

// ---- Settings: every tile with 1, 2, 4, … parts; each kind of unit has some of these ----

std::span<const MatrixTile> setting_tiles() { return matrix_tiles(MatrixUnit::Kind::mma_sm80); }

std::span<const std::string> setting_names() {
  static const std::vector<std::string> names = names_in_parts(tile_names(setting_tiles()));
  return names;
}

const MatrixTile* tile_of(const TileInParts& setting, const Gemm& p) {
  return tile_like(setting_tiles()[setting.tile], matrix_tiles(p.unit.kind));
}

const char* refuse_setting(const Gemm& problem, const DeviceInfo&, std::size_t setting) {
  const Gemm p = with_rows_along(problem);
  const TileInParts with(setting);
  const MatrixTile* const tile = tile_of(with, p);
  if (tile == nullptr) return no_such_tile;
  if (const char* reason = refuse_parts(p, with.parts)) return reason;
  const MatrixPlan plan = cut_matrix(*tile, work_of(p), with.parts);
  if (plan.parts != with.parts) return too_small_for_parts;
  return plan.groups > most_matrix_groups ? "too many tiles" : nullptr;
}

void run_setting(const Gemm& problem, std::size_t setting) {
  const Gemm p = with_rows_along(problem);
  const TileInParts with(setting);
  run_gemm_matrix(p, cut_matrix(*tile_of(with, p), work_of(p), with.parts));
}

}  // namespace

const Settings<Gemm> matrix_settings{setting_names, refuse_setting, run_setting};

MatrixWork work_of(const Gemm& p) { return {p.m, p.n, p.k, p.batch, p.precision, p.unit}; }

const char* refuse_matrix_unit(const Gemm& problem, const DeviceInfo& info) {
  if (const char* reason = refuse_matrix_work(work_of(problem), info)) return reason;
  return refuse_tiled_operands(problem);
}

const char* refuse_gemm_matrix(const Gemm& problem, const DeviceInfo& info) {
  if (const char* reason = refuse_matrix_unit(problem, info)) return reason;
  return plan_of(with_rows_along(problem), info).groups > most_matrix_groups ? "too many tiles" : nullptr;
}

void run_gemm_matrix(const Gemm& problem) {
  const Gemm p = with_rows_along(problem);
  run_gemm_matrix(p, plan_of(p, runtime::info_of(p.device)));
}

void run_gemm_matrix(const Gemm& p, const MatrixPlan& plan) {
  const MatrixUnitFacts& unit = facts_of(p.unit.kind);
  runtime::KernelSpec spec{"product/gemm_matrix.cl", "gemm_matrix"};
  define_matrix(spec.defines, plan.tile, work_of(p), runtime::info_of(p.device));
  launch_tiles(p, {plan.parts, plan.part_depth, plan.groups, {unit.lanes, plan.tile.waves()}}, spec, unit.run);
}

}  // namespace crisol::ops
