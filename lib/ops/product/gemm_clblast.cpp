// CLBlast as a variant of matmul, for GPUs.
#include "ops/product/gemm.h"
#include "runtime/clblast.h"
#include "runtime/recording.h"

namespace crisol::ops {

namespace {

// Row by row or, transposed, column by column; columns are the matrix's, so the leading distance must not be less.
bool is_blas_matrix(const Matrix& matrix, std::int64_t rows, std::int64_t columns) {
  if (matrix.column == 1) return matrix.row >= columns;
  return matrix.row == 1 && matrix.column >= rows;
}

runtime::ClblastMatrix as_blas(const Matrix& matrix, std::int64_t columns) {
  const bool by_rows = matrix.column == 1 && matrix.row >= columns;
  return {matrix.first, by_rows ? matrix.row : matrix.column, !by_rows, matrix.batch};
}

}  // namespace

const char* refuse_gemm_clblast(const Gemm& p, const DeviceInfo& info) {
  if (info.type == DeviceType::cpu) return "made for GPUs: seconds for its first call and a tenth of the peak on CPUs";
  if (info.platform == "Oclgrind") return "CLBlast frees its programs at exit, when this simulator is gone already";
  if (runtime::current_recorder() != nullptr) return "what it launches cannot be recorded";
  if (p.k == 0) return "the depth is 0";
  // One work-item adds all products of a result, one after the other: few work-groups, and the sums lose digits.
  // Sums of 66,000 products were off by 7e-6 of their value, those of a cut depth by less than 2.4e-6.
  if (p.k > 16384 && p.m * p.n * p.batch < 256 * 256) return "few results of great depth, which it does not cut";
  if (p.flags & with_relu) return "it has no relu";
  if (p.c.column != 1 || p.c.row < p.n) return "the rows of the result are not contiguous";
  if (!is_blas_matrix(p.a, p.m, p.k) || !is_blas_matrix(p.b, p.k, p.n)) return "neither stride of an operand is 1";
  return runtime::clblast_missing();
}

void run_gemm_clblast(const Gemm& p) {
  const bool has_bias = (p.flags & (bias_per_row | bias_per_column)) != 0;
  if (has_bias) {  // CLBlast adds no bias, but it adds to a C that holds one.
    Gemm fill = p;
    fill.k = 0;
    run_gemm_plain(fill);
  }
  runtime::clblast_gemm(p.device, p.m, p.n, p.k, p.batch, as_blas(p.a, p.k), as_blas(p.b, p.n),
                        {p.c.first, p.c.row, false, p.c.batch}, has_bias || p.flags & add_to_c ? 1.0f : 0.0f);
}

}  // namespace crisol::ops
