#include "ops/gemm.h"

#include <algorithm>

namespace crisol::ops {

namespace {

constexpr Variant<Gemm> clblast{"clblast", refuse_gemm_clblast, run_gemm_clblast};
constexpr Variant<Gemm> cpu_rows{"cpu_rows", refuse_gemm_rows, run_gemm_rows};
constexpr Variant<Gemm> cpu_tiled{"cpu_tiled", refuse_gemm_tiled, run_gemm_tiled};
constexpr Variant<Gemm> plain{"plain", accept_all, run_gemm_plain};

constexpr Variant<Gemm> variants[] = {clblast, cpu_tiled, cpu_rows, plain};
constexpr Variant<Gemm> variants_for_depth[] = {clblast, cpu_rows, cpu_tiled, plain};

// Row products save the transposition of an operand, which weighs where few rows share it, and pay for each result at
// the end of the depth.
bool is_deep(const Gemm& p) { return p.k >= p.m + p.n && std::min(p.m, p.n) <= 96; }

// Along an axis of one element any stride is right: one that shows the matrix to be contiguous opens more variants.
void tidy_strides(Matrix& matrix, std::int64_t rows, std::int64_t columns) {
  if (columns <= 1 && matrix.row != 1) matrix.column = 1;
  if (rows <= 1 && matrix.column != 1) matrix.row = 1;
}

}  // namespace

void gemm(const Gemm& problem) {
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return;
  Gemm tidy = problem;
  tidy_strides(tidy.a, tidy.m, tidy.k);
  tidy_strides(tidy.b, tidy.k, tidy.n);
  tidy_strides(tidy.c, tidy.m, tidy.n);
  if ((tidy.flags & (bias_per_row | bias_per_column)) == 0) tidy.bias = tidy.a.first;  // Any buffer: it is not read.
  choose("matmul", is_deep(tidy) ? variants_for_depth : variants, tidy, runtime::info_of(tidy.device)).run(tidy);
}

void run_gemm_plain(const Gemm& p) {
  const DeviceInfo& info = runtime::info_of(p.device);
  const std::int64_t group = info.max_work_group >= 256 ? 16 : 8;
  // Four results a side for each work-item, but not where most of such a tile would lie outside C.
  const std::int64_t per = std::min(p.m, p.n) >= 2 * group ? 4 : 1;
  const std::int64_t side = group * per;
  const std::int64_t tiles = (p.m + side - 1) / side * ((p.n + side - 1) / side) * p.batch;
  runtime::KernelSpec spec{"gemm_plain.cl", "gemm_plain", {{"GROUP", group}, {"PER", per}}};
  if (!info.fast_fma) spec.defines.add({"NO_FMA", 1});
  runtime::launch(p.device, spec, {{tiles * group, group}, {group, group}}, p.a.first, p.b.first, p.c.first, p.bias,
                  p.m, p.n, p.k, p.a.batch, p.a.row, p.a.column, p.b.batch, p.b.row, p.b.column, p.c.batch, p.c.row,
                  p.c.column, std::int64_t{0}, p.flags);
}

}  // namespace crisol::ops
