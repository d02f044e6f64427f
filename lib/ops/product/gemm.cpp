#include "ops/product/gemm.h"

#include <algorithm>

#include "dispatch/persistent.h"
#include "ops/probe/matrix_probe.h"
#include "ops/product/gemm_block.h"
#include "ops/product/gemm_cpu.h"
#include "ops/product/gemm_epilogue.h"
#include "ops/product/gemm_matrix.h"
#include "ops/product/gemm_matrix_packed.h"

namespace crisol::ops {

namespace {

constexpr Variant<Gemm> matrix_packed{"matrix_packed", refuse_gemm_matrix_packed, run_gemm_matrix_packed,
                                      packed_workspace};
constexpr Variant<Gemm> matrix{"matrix", refuse_gemm_matrix, run_gemm_matrix, nullptr, &matrix_settings};
constexpr Variant<Gemm> clblast{"clblast", refuse_gemm_clblast, run_gemm_clblast};
constexpr Variant<Gemm> cpu_skinny{"cpu_skinny", refuse_gemm_skinny, run_gemm_skinny};
constexpr Variant<Gemm> cpu_rows{"cpu_rows", refuse_gemm_rows, run_gemm_rows};
constexpr Variant<Gemm> cpu_tiled{"cpu_tiled", refuse_gemm_tiled, run_gemm_tiled, nullptr, &tiled_settings};
constexpr Variant<Gemm> block{"block", refuse_gemm_block, run_gemm_block, nullptr, &block_settings};
constexpr Variant<Gemm> plain{"plain", accept_all, run_gemm_plain};

// CLBlast, where it is installed, goes before block until that has beaten it on a GPU.
constexpr Variant<Gemm> variants[] = {matrix_packed, matrix, clblast, block, cpu_skinny, cpu_tiled, cpu_rows, plain};
constexpr Variant<Gemm> variants_for_depth[] = {matrix_packed, matrix,   clblast,   block,
                                                cpu_skinny,    cpu_rows, cpu_tiled, plain};

// Row products save the transposition of an operand, which weighs where few rows share it, and pay for each result at
// the end of the depth. Of weights only those of few columns, which leave most of a tile empty, kept or not: whether a
// packed copy is kept already must not change the sums.
bool is_deep(const Gemm& p) {
  if (p.b_storage == nullptr) return p.k >= p.m + p.n && std::min(p.m, p.n) <= 96;
  const std::int64_t lanes = cpu_vector_width(p.device);
  return p.n <= lanes && p.k >= 2 * lanes;
}

// Along an axis of one element any stride is right: one that shows the matrix to be contiguous opens more variants.
void tidy_strides(Matrix& of, std::int64_t rows, std::int64_t columns) {
  if (columns <= 1 && of.row != 1) of.column = 1;
  if (rows <= 1 && of.column != 1) of.row = 1;
}

}  // namespace

bool gemm(const Gemm& problem) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return true;
  Gemm tidy = problem;
  tidy_strides(tidy.a, tidy.m, tidy.k);
  tidy_strides(tidy.b, tidy.k, tidy.n);
  tidy_strides(tidy.c, tidy.m, tidy.n);
  if ((tidy.flags & (bias_per_row | bias_per_column)) == 0) tidy.bias = tidy.a.first;  // Any buffer: it is not read.
  tidy.precision = precision();
  if (tidy.precision != Precision::fp32) tidy.unit = matrix_unit_of(tidy.device, tidy.precision, "matmul");
  const DeviceInfo& info = runtime::info_of(tidy.device);
  if (tidy.b_storage != nullptr && takes_cpu_kernels(info))
    if (const auto source = b_source(tidy))
      tidy.b_kept = tidy.b_storage->find_derived(pack_key(*source, panel_columns(tidy.device)),
                                                 tidy.b_storage->version.load(std::memory_order_relaxed));
  const Choice<Gemm> choice = choose("matmul", is_deep(tidy) ? variants_for_depth : variants, tidy, info);
  const bool ends = tidy.epilogue == nullptr || choice.variant->run != run_gemm_clblast;
  if (!ends) tidy.epilogue = nullptr;
  choice.run(tidy);
  return ends;
}

void run_gemm_plain(const Gemm& p) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const std::int64_t group = info.max_work_group >= 256 ? 16 : 8;
  // Four results a side for each work-item, but not where most of such a tile would lie outside C.
  const std::int64_t per = std::min(p.m, p.n) >= 2 * group ? 4 : 1;
  const std::int64_t side = group * per;
  const std::int64_t tiles = (p.m + side - 1) / side * ((p.n + side - 1) / side) * p.batch;
  runtime::KernelSpec spec{
      "product/gemm_plain.cl", "gemm_plain", {{"GROUP", group}, {"PER", per}}, epilogue_prelude(p.epilogue)};
  if (!info.fast_fma) spec.defines.add({"NO_FMA", 1});
  const EpilogueArguments e = epilogue_arguments(p.epilogue, p.a.first);
  runtime::launch(p.device, spec, {{tiles * group, group}, {group, group}}, p.a.first, p.b.first, p.c.first, p.bias,
                  e.first, e.second, e.strides, e.scalars[0], e.scalars[1], e.scalars[2], p.m, p.n, p.k, p.a.batch,
                  p.a.row, p.a.column, p.b.batch, p.b.row, p.b.column, p.c.batch, p.c.row, p.c.column, std::int64_t{0},
                  p.flags | epilogue_flags(p.epilogue));
}

}  // namespace crisol::ops
