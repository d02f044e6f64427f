// CLBlast as a variant of matmul, for GPUs.
#include <cstring>

#include "ops/product/gemm.h"
#include "runtime/clblast.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

// CLBlast takes matrices row by row or, transposed, column by column. `columns` are those of the matrix, so the leading
// dimension must not be less.
bool is_blas_matrix(const MatrixLayout& matrix, std::int64_t rows, std::int64_t columns) {
  if (matrix.column == 1) return matrix.row >= columns;
  return matrix.row == 1 && matrix.column >= rows;
}

/// The numbers of a ClblastMatrix.
struct BlasLayout {
  std::int64_t leading_dimension;
  std::int32_t transposed;
  std::int64_t batch;
};

BlasLayout as_blas(const MatrixLayout& matrix, std::int64_t columns) {
  const bool by_rows = matrix.column == 1 && matrix.row >= columns;
  return {by_rows ? matrix.row : matrix.column, by_rows ? 0 : 1, matrix.batch};
}

template <class T>
T value_of(const runtime::KernelArg& arg) {
  T value;
  std::memcpy(&value, arg.data(), sizeof value);
  return value;
}

// A matrix from four arguments: its place, and its BlasLayout.
runtime::ClblastMatrix matrix_of(std::span<const runtime::KernelArg> args) {
  return {args[0].view(), value_of<std::int64_t>(args[1]), value_of<std::int32_t>(args[2]) != 0,
          value_of<std::int64_t>(args[3])};
}

void call_clblast(runtime::DeviceState& device, std::span<const runtime::KernelArg> args) {
  const auto number = [&](std::size_t i) { return value_of<std::int64_t>(args[i]); };
  runtime::clblast_gemm(gemm_table.op, device, number(0), number(1), number(2), number(3), matrix_of(args.subspan(5)),
                        matrix_of(args.subspan(9)), matrix_of(args.subspan(13)), value_of<float>(args[4]));
}

const char* against(const GemmProblem& p, const Target& target) {
  if (!target.clblast) return "CLBlast is not there, or the device is no GPU";
  if (p.context.captured != 0) return "what it launches cannot be captured";
  if (p.k == 0) return "the depth is 0";
  // One work-item adds all products of a result, one after the other: few work-groups, and the sums lose digits.
  // Sums of 66,000 products were off by 7e-6 of their value, those of a cut depth by less than 2.4e-6.
  if (p.k > 16384 && p.m * p.n * p.batch < 256 * 256) return "few results of great depth, which it does not cut";
  if ((p.flags & with_relu) != 0) return "it has no relu";
  if (p.c.column != 1 || p.c.row < p.n) return "the rows of the result are not contiguous";
  if (!is_blas_matrix(p.a, p.m, p.k) || !is_blas_matrix(p.b, p.k, p.n)) return "neither stride of an operand is 1";
  return nullptr;
}

}  // namespace

PlanOr plan_gemm_clblast(const GemmProblem& p, const Target& target, std::size_t config) {
  if (const char* reason = against(p, target)) return reason;
  const GemmPlaces at = gemm_places(p);
  const bool has_bias = (p.flags & (bias_per_row | bias_per_column)) != 0;
  Plan plan;
  if (has_bias) {  // CLBlast adds no bias, but it adds to a C that holds the bias.
    GemmProblem fill = p;
    fill.k = 0;
    fill.epilogue = {};
    plan = std::move(plan_gemm_plain(fill, target, config).plan());
  }
  const BlasLayout a = as_blas(p.a, p.k), b = as_blas(p.b, p.n);
  const float beta = has_bias || (p.flags & add_to_c) != 0 ? 1.0f : 0.0f;
  plan.add_call(call_clblast, p.m, p.n, p.k, p.batch, beta, at.a, a.leading_dimension, a.transposed, a.batch, at.b,
                b.leading_dimension, b.transposed, b.batch, at.c, p.c.row, std::int32_t{0}, p.c.batch);
  return plan;
}

}  // namespace crisol::ops
