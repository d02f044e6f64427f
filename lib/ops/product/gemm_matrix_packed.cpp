// gemm_matrix_pack.cl for each operand, then gemm_matrix_packed.cl.
#include "ops/product/gemm_matrix_packed.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm_epilogue.h"
#include "ops/product/gemm_matrix.h"
#include "ops/product/gemm_tiles.h"

namespace crisol::ops {

namespace {

constexpr int slice_words = 16;
constexpr MatrixTile large_tile{128, 128, 64, 64, 1.0};

// Packing reads and writes each element once, a tile's row of panels saves as much for each panel of the other operand.
constexpr std::int64_t least_side = 1024, least_depth = 256;

std::int64_t slices_of(const Gemm& p) { return ceil_div(p.k, slice_depth(p.precision)); }

std::int64_t sides_of(std::int64_t sides, const MatrixTile& tile) { return ceil_div(sides, tile.rows) * tile.rows; }

std::uint64_t packed_bytes(const Gemm& p, std::int64_t sides, const MatrixTile& tile) {
  return static_cast<std::uint64_t>(slices_of(p) * sides_of(sides, tile) * slice_words * 4);
}

std::int64_t tiles_of(const Gemm& p, const MatrixTile& tile) {
  return ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.columns);
}

// In local memory. Where copies go by themselves two slices are ahead of the one that is multiplied, elsewhere one, in
// registers.
int stages_of(MatrixUnit::Kind kind) { return kind == MatrixUnit::Kind::mma_sm80 ? 3 : 2; }

runtime::KernelSpec spec_of(const Gemm& p, const MatrixTile& tile, const char* file, const char* entry) {
  runtime::KernelSpec spec{file,
                           entry,
                           {{"UNIT", static_cast<int>(p.unit.kind)},
                            {"PRECISION", static_cast<int>(p.precision)},
                            {"BM", tile.rows},
                            {"BN", tile.columns},
                            {"WM", tile.wave_rows},
                            {"WN", tile.wave_columns}}};
  if (p.unit.emulated) spec.defines.add({"EMULATED", 1});
  return spec;
}

/// One operand on its way: B is given transposed.
struct Packing {
  Packing(const Gemm& p, const MatrixTile& tile, const Matrix& of, std::int64_t count)
      : matrix(of),
        sides(count),
        packed_sides(sides_of(count, tile)),
        side(side_of(of, count, p.k)),
        block(runtime::allocate(p.device, packed_bytes(p, count, tile))) {
    runtime::KernelSpec spec = spec_of(p, tile, "product/gemm_matrix_pack.cl", "gemm_matrix_pack");
    spec.defines.add({"ALONG_K", side.along_depth ? 1 : 0});
    spec.defines.add({"VEC", side.vectors ? 4 : 1});
    if (takes_cpu_kernels(runtime::info_of(p.device))) spec.defines.add({"ROLLED", 1});
    kernel = &runtime::resolve(p.device, spec);
  }

  runtime::BufferView view() const { return {block.get(), 0}; }

  void launch(const Gemm& p, const MatrixTile& tile) const {
    const std::int64_t lanes = facts_of(p.unit.kind).lanes, groups = slices_of(p) * packed_sides / tile.rows;
    runtime::launch(p.device, *kernel, {{groups * lanes, tile.waves()}, {lanes, tile.waves()}}, matrix.first, view(),
                    side.step, sides, p.k, packed_sides);
  }

  Matrix matrix;
  std::int64_t sides, packed_sides;
  Side side;
  runtime::BlockPtr block;
  runtime::Kernel* kernel = nullptr;
};

}  // namespace

const char* refuse_gemm_matrix_packed(const Gemm& problem, const DeviceInfo& info) {
  if (const char* reason = refuse_matrix_unit(problem, info)) return reason;
  if (is_intel(problem.unit.kind)) return "the device has too few registers for its tile";
  if (problem.batch != 1) return "there are several products";
  if (static_cast<int>(info.local_memory) < stages_of(problem.unit.kind) * large_tile.local_bytes())
    return "the device has too little local memory";
  const Gemm p = with_rows_along(problem);
  if (p.c.column != 1) return "the columns of the result do not lie side by side";
  const bool worth =
      std::min(p.m, p.n) >= least_side && p.k >= least_depth && tiles_of(p, large_tile) >= info.compute_units;
  return worth || p.unit.emulated ? nullptr : "too small for packing to pay";
}

std::uint64_t packed_workspace(const Gemm& p, const DeviceInfo&) {
  return packed_bytes(p, p.m, large_tile) + packed_bytes(p, p.n, large_tile);
}

void run_gemm_matrix_packed(const Gemm& problem) { run_gemm_matrix_packed(problem, large_tile); }

void run_gemm_matrix_packed(const Gemm& problem, const MatrixTile& tile) {
  const Gemm p = with_rows_along(problem);
  const MatrixUnitFacts& unit = facts_of(p.unit.kind);
  const Packing a(p, tile, p.a, p.m), b(p, tile, p.b.transposed(), p.n);
  runtime::KernelSpec spec = spec_of(p, tile, "product/gemm_matrix_packed.cl", "gemm_matrix_packed");
  spec.defines.add({"STAGES", stages_of(p.unit.kind)});
  add_result(spec, runtime::info_of(p.device), p.epilogue, std::min(unit.run, result_vectors(p)));
  runtime::Kernel& multiply = runtime::resolve(p.device, spec);
  a.launch(p, tile);
  b.launch(p, tile);
  const EpilogueArguments e = epilogue_arguments(p.epilogue, p.a.first);
  runtime::launch(p.device, multiply, {{tiles_of(p, tile) * unit.lanes, tile.waves()}, {unit.lanes, tile.waves()}},
                  a.view(), b.view(), p.c.first, p.bias, e.first, e.second, e.strides, e.scalars[0], e.scalars[1],
                  e.scalars[2], p.m, p.n, a.packed_sides, b.packed_sides, p.c.row,
                  static_cast<std::int32_t>(slices_of(p)), p.flags | epilogue_flags(p.epilogue));
}

}  // namespace crisol::ops
