// Matrix products on matrix units: gemm_matrix.cl, and gemm_parts.cl where the depth is cut.
#include "ops/gemm_matrix.h"

#include "ops/gemm_tiles.h"

namespace crisol::ops {

namespace {

MatrixPlan plan_of(const Gemm& p, const DeviceInfo& info) {
  return plan_matrix_among(matrix_tiles(p.unit.kind), info, work_of(p), most_parts(p));
}

}  // namespace

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
  runtime::KernelSpec spec{"gemm_matrix.cl", "gemm_matrix"};
  define_matrix(spec.defines, plan.tile, work_of(p), runtime::info_of(p.device));
  launch_tiles(p, {plan.parts, plan.part_depth, plan.groups, {unit.lanes, plan.tile.waves()}}, spec, unit.run);
}

}  // namespace crisol::ops
