// gemm_matrix_pack.cl for each operand, then gemm_matrix_packed.cl.
#include "ops/product/gemm_packed.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "ops/product/gemm_tiled.h"
#include "product/sizes.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr TileShape large_tile{128, 128, 64, 64, 1.0};

// Packing reads and writes each element once. It saves as much for each panel of the other operand that is multiplied
// with it.
constexpr std::int64_t min_side = 1024, min_depth = 256;

std::int64_t slices_of(const GemmProblem& p) { return ceil_div(p.k, slice_depth(p.precision())); }

std::int64_t padded(std::int64_t rows, const TileShape& tile) { return ceil_div(rows, tile.rows) * tile.rows; }

std::int64_t tiles_of(const GemmProblem& p, const TileShape& tile) {
  return ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.columns);
}

// Slices in local memory. Where copies go by themselves, two slices are ahead of the one that is multiplied. Elsewhere
// one slice is ahead, in registers.
int stages_of(MatrixUnit::Kind kind) { return kind == MatrixUnit::Kind::mma_sm80 ? 3 : 2; }

int local_bytes(const TileShape& tile) { return 4 * SLICE_WORDS * (tile.rows + tile.columns); }

runtime::KernelSpec spec_of(const GemmProblem& p, const TileShape& tile, const char* file, const char* entry) {
  runtime::KernelSpec spec{file,
                           entry,
                           {{"UNIT", static_cast<int>(p.unit().kind)},
                            {"PRECISION", static_cast<int>(p.precision())},
                            {"BM", tile.rows},
                            {"BN", tile.columns},
                            {"WM", tile.part_rows},
                            {"WN", tile.part_columns}}};
  if (p.unit().emulated) spec.defines.add({"EMULATED", 1});
  return spec;
}

// Packs an operand with so many rows; B is given transposed.
Place add_packing(Plan& plan, const Target& target, const GemmProblem& p, const TileShape& tile, Place from,
                  const OperandLayout& layout, std::int64_t rows) {
  const std::int64_t packed_rows = padded(rows, tile), lanes = facts_of(p.unit().kind).lanes;
  const Place packed = plan.workspace(static_cast<std::uint64_t>(slices_of(p) * packed_rows * SLICE_WORDS * 4));
  runtime::KernelSpec spec = spec_of(p, tile, "product/gemm_matrix_pack.cl", "gemm_matrix_pack");
  spec.defines.add({"ALONG_K", layout.along_depth ? 1 : 0});
  spec.defines.add({"VEC", layout.vectors ? 4 : 1});
  if (target.takes_cpu_kernels()) spec.defines.add({"ROLLED", 1});
  const std::int64_t groups = slices_of(p) * packed_rows / tile.rows;
  plan.add(spec, {{groups * lanes, tile.parts()}, {lanes, tile.parts()}}, from, packed, layout.leading_dimension, rows,
           p.k, packed_rows);
  return packed;
}

}  // namespace

Plan packed_product(const GemmProblem& problem, const Target& target, const TileShape& tile) {
  const PlacedGemm product = as_row_major(problem);
  const GemmProblem& p = product.problem;
  const GemmPlaces& at = product.at;
  const MatrixUnitFacts& unit = facts_of(p.unit().kind);
  Plan plan;
  const Place a = add_packing(plan, target, p, tile, at.a, product.a(), p.m);
  const Place b = add_packing(plan, target, p, tile, at.b, product.b(), p.n);
  runtime::KernelSpec spec = spec_of(p, tile, "product/gemm_matrix_packed.cl", "gemm_matrix_packed");
  spec.defines.add({"STAGES", stages_of(p.unit().kind)});
  define_result(spec, target, p.epilogue, std::min(unit.run, product.result_vectors()));
  const EpilogueArgs e = at.epilogue(p, at.a);
  plan.add(spec, {{tiles_of(p, tile) * unit.lanes, tile.parts()}, {unit.lanes, tile.parts()}}, a, b, at.c, at.bias, e,
           p.whole(), padded(p.m, tile), padded(p.n, tile), p.c.row, static_cast<std::int32_t>(slices_of(p)));
  return plan;
}

PlanOr plan_gemm_packed(const GemmProblem& problem, const Target& target, std::size_t) {
  const MatrixUnit unit = problem.unit();
  const PlacedGemm product = as_row_major(problem);
  const GemmProblem& p = product.problem;
  if (const char* reason = mma_engine(unit, problem.precision()).against(product.extent(), target)) return reason;
  if (const char* reason = against_tiled_operands(problem)) return reason;
  if (facts_of(unit.kind).waves_share_registers) return "the device has too few registers for its tile";
  if (p.batch != 1) return "there are several products";
  if (static_cast<int>(target.info.local_memory) < stages_of(unit.kind) * local_bytes(large_tile))
    return "the device has too little local memory";
  if (p.c.column != 1) return "the columns of the result do not lie side by side";
  const bool worth =
      std::min(p.m, p.n) >= min_side && p.k >= min_depth && tiles_of(p, large_tile) >= target.info.compute_units;
  if (!worth && !unit.emulated) return "too small for packing to pay";
  return packed_product(problem, target, large_tile);
}

}  // namespace crisol::ops
