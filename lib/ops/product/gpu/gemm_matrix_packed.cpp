// Large products on matrix units: gemm_matrix_pack.cl for each operand, then gemm_matrix_packed.cl.
#include "ops/product/gpu/gemm_matrix_packed.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "ops/product/gpu/gemm_tiled.h"
#include "product/sizes.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr TileShape large_tile{128, 128, 64, 64, 1.0};

// The smallest sizes for which packing saves time. Packing reads and writes each element once. It saves the same amount
// for each panel of the other operand.
constexpr std::int64_t min_side = 1024, min_depth = 256;

std::int64_t slices_of(const GemmProblem& p) { return ceil_div(p.k, slice_depth(p.precision())); }

std::int64_t padded(std::int64_t rows, const TileShape& tile) { return ceil_div(rows, tile.rows) * tile.rows; }

std::int64_t tiles_of(const GemmProblem& p, const TileShape& tile) {
  return ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.columns);
}

// The number of slices in local memory. If the device copies in the background, two slices are read ahead. Otherwise
// one slice is read ahead, into registers.
int stages_of(MatrixUnit::Kind kind) { return kind == MatrixUnit::Kind::mma_sm80 ? 3 : 2; }

int packed_tile_bytes(const TileShape& tile) { return 4 * SLICE_WORDS * (tile.rows + tile.columns); }

runtime::KernelSpec spec_of(const GemmProblem& p, const Target& target, const TileShape& tile, const char* file,
                            const char* entry) {
  runtime::KernelSpec spec{file, entry};
  define_unit(spec.defines, target.unit(p.precision()), p.precision(), tile);
  return spec;
}

/// An operand with `rows` rows. For B these are the rows of its transpose.
struct Packing {
  Place from;
  OperandLayout layout;
  std::int64_t rows, type;
};

// Calls add(spec, range, arguments…) for the launch that packs an operand.
template <class Add>
void pack(const Target& target, const GemmProblem& p, const TileShape& tile, const Packing& of, Place packed,
          const Add& add) {
  const std::int64_t packed_rows = padded(of.rows, tile), lanes = facts_of(target.unit(p.precision()).kind).lanes;
  runtime::KernelSpec spec = spec_of(p, target, tile, "product/gpu/gemm_matrix_pack.cl", "gemm_matrix_pack");
  const OperandLayout& layout = of.layout;
  spec.defines.add({"ALONG_K", layout.along_depth ? 1 : 0});
  spec.defines.add({"VEC", layout.vectors ? 4 : 1});
  define_storage(spec.defines, "STORAGE", of.type);
  if (target.takes_cpu_kernels()) spec.defines.add({"ROLLED", 1});
  const std::int64_t groups = slices_of(p) * packed_rows / tile.rows;
  add(spec, runtime::NdRange{{groups * lanes, tile.parts()}, {lanes, tile.parts()}}, of.from, packed,
      layout.leading_dimension, of.rows, p.k, packed_rows);
}

std::uint64_t packed_bytes(const GemmProblem& p, const TileShape& tile, std::int64_t rows) {
  return static_cast<std::uint64_t>(slices_of(p) * padded(rows, tile) * SLICE_WORDS * 4);
}

Place add_packing(Plan& plan, const Target& target, const GemmProblem& p, const TileShape& tile, const Packing& of) {
  const Place packed = plan.workspace(packed_bytes(p, tile, of.rows));
  pack(target, p, tile, of, packed, [&](const auto&... args) { plan.add(args...); });
  return packed;
}

// The same for a weight. Its owner may keep the copy.
Place derive_packing(Plan& plan, const Target& target, const GemmProblem& p, const TileShape& tile, const Packing& of) {
  static constexpr char kind[] = "gemm_matrix_pack";
  const DerivedKey key{
      kind,
      {of.rows, p.k, of.layout.along_depth, of.layout.leading_dimension, tile.rows, of.type,
       static_cast<std::int64_t>(target.unit(p.precision()).kind), static_cast<std::int64_t>(p.precision())}};
  const Place packed = plan.derive(of.from, key, packed_bytes(p, tile, of.rows));
  pack(target, p, tile, of, packed, [&](const auto&... args) { plan.add_to_derived(packed, args...); });
  return packed;
}

}  // namespace

Plan packed_product(const GemmProblem& problem, const Target& target, const TileShape& tile) {
  const PlacedGemm product = as_row_major(problem);
  const GemmProblem& p = product.problem;
  const GemmPlaces& at = product.at;
  const MatrixUnitFacts& unit = facts_of(target.unit(p.precision()).kind);
  Plan plan;
  const Packing of_b{at.b, product.b(), p.n, p.b.type};
  const Place a = add_packing(plan, target, p, tile, {at.a, product.a(), p.m, p.a.type});
  const Place b =
      p.b_is_weight != 0 ? derive_packing(plan, target, p, tile, of_b) : add_packing(plan, target, p, tile, of_b);
  runtime::KernelSpec spec = spec_of(p, target, tile, "product/gpu/gemm_matrix_packed.cl", "gemm_matrix_packed");
  spec.defines.add({"STAGES", stages_of(unit.kind)});
  define_result(spec, target, p.epilogue, std::min(unit.run, product.result_vectors()), p.c.type);
  const EpilogueArgs e = at.epilogue(p, at.a);
  plan.add(spec, {{tiles_of(p, tile) * unit.lanes, tile.parts()}, {unit.lanes, tile.parts()}}, a, b, at.c, at.bias, e,
           p.whole(), padded(p.m, tile), padded(p.n, tile), p.c.row, static_cast<std::int32_t>(slices_of(p)));
  return plan;
}

PlanOr plan_gemm_matrix_packed(const GemmProblem& problem, const Target& target, std::size_t) {
  const MatrixUnit unit = target.unit(problem.precision());
  const PlacedGemm product = as_row_major(problem);
  const GemmProblem& p = product.problem;
  if (const char* reason = mma_engine(unit, problem.precision()).against(product.extent(), target)) return reason;
  if (const char* reason = against_tiled_operands(problem)) return reason;
  if (facts_of(unit.kind).waves_share_registers) return "the device has too few registers for its tile";
  if (p.batch != 1) return "there are several products";
  if (static_cast<int>(target.info.local_memory) < stages_of(unit.kind) * packed_tile_bytes(large_tile))
    return "the device has too little local memory";
  if (p.c.column != 1) return "the columns of the result do not lie side by side";
  const bool worth =
      std::min(p.m, p.n) >= min_side && p.k >= min_depth && tiles_of(p, large_tile) >= target.info.compute_units;
  if (!worth && !unit.emulated) return "too small for packing to pay";
  return unless_emulated(packed_product(problem, target, large_tile), unit);
}

}  // namespace crisol::ops
