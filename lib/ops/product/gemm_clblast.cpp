// The variant "clblast": products by CLBlast, in f32.
#include <algorithm>
#include <optional>

#include "ops/product/gemm.h"
#include "runtime/clblast.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

using runtime::ClblastMatrix;
using runtime::ClblastProduct;

constexpr std::int64_t max_elements = std::int64_t{1} << 30;  // CLBlast counts elements in 32 bits.
// The depth of one call. A work-item of CLBlast adds all products of a result one after another, so long sums lose
// digits: the error of 66,000 products was 7e-6 of the sum. So a deep product is split into calls of this depth, whose
// sums are added.
constexpr std::int64_t depth_at_once = 8192;

// Describes the matrix for CLBlast. Returns nothing unless its rows or columns are contiguous and do not overlap.
std::optional<ClblastMatrix> blas_matrix(const MatrixLayout& matrix, std::int64_t rows, std::int64_t columns) {
  if (matrix.column == 1 && (rows == 1 || matrix.row >= columns))
    return ClblastMatrix{std::max(matrix.row, columns), 0, matrix.batch};
  if (matrix.row == 1 && (columns == 1 || matrix.column >= rows))
    return ClblastMatrix{std::max(matrix.column, rows), 1, matrix.batch};
  return std::nullopt;
}

/// A matrix in memory.
struct PlacedMatrix {
  MatrixLayout layout;
  Place first;
};

// Copies matrices so that their rows are contiguous, by a product without a depth, whose epilogue adds the matrices.
PlacedMatrix contiguous_copy(Plan& plan, const PlacedMatrix& from, std::int64_t rows, std::int64_t columns,
                             std::int64_t batch, const Target& target) {
  const MatrixLayout& is = from.layout;
  const bool shared = is.batch == 0;
  GemmProblem copy{.m = rows, .n = columns, .k = 0, .batch = shared ? 1 : batch};
  copy.c = {columns, 1, shared ? 0 : rows * columns};
  copy.epilogue = {EpilogueLayout::Function::add, 0, 1, {}};
  copy.epilogue.operands[0] = {is.row, is.column, is.batch, is.offset};
  const Place to = plan.workspace(sizeof(float) * static_cast<std::uint64_t>(rows * columns * copy.batch));
  plan.append(plan_gemm_plain(copy, target, own_config).plan(),
              {from.first, from.first, to, from.first, from.first, from.first});
  return {copy.c, to};
}

std::int64_t elements_of(const MatrixLayout& matrix, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  return (rows - 1) * matrix.row + (columns - 1) * matrix.column + (batch - 1) * matrix.batch + 1;
}

// Adds the bias and the epilogue, which CLBlast does not have: a product without a depth that is added to C.
void add_epilogue(Plan& plan, GemmProblem p, const Target& target) {
  p.k = 0;
  p.flags |= add_to_c;
  if (p.kernel_flags() == add_to_c) return;
  plan.append(plan_gemm_plain(p, target, own_config).plan(), operands<6>());
}

// The plan for a C with contiguous rows.
PlanOr plan_rows(const GemmProblem& p, const GemmPlaces& at, const Target& target) {
  const auto c = blas_matrix(p.c, p.m, p.n);
  if (!c || c->transposed != 0) return "the rows and the columns of the result are not contiguous";
  Plan plan;
  PlacedMatrix left{p.a, at.a}, right{p.b, at.b};
  if (!blas_matrix(p.a, p.m, p.k)) left = contiguous_copy(plan, left, p.m, p.k, p.batch, target);
  if (!blas_matrix(p.b, p.k, p.n)) right = contiguous_copy(plan, right, p.k, p.n, p.batch, target);
  if (std::max({elements_of(left.layout, p.m, p.k, p.batch), elements_of(right.layout, p.k, p.n, p.batch),
                elements_of(p.c, p.m, p.n, p.batch)}) > max_elements)
    return "a matrix is too large for CLBlast's indices";
  if (const char* const reason = runtime::against_clblast()) return reason;
  const ClblastMatrix a = *blas_matrix(left.layout, p.m, p.k), b = *blas_matrix(right.layout, p.k, p.n);
  for (std::int64_t first = 0; first < p.k; first += depth_at_once) {
    const std::int64_t depth = std::min(depth_at_once, p.k - first);
    const std::int64_t adds = first > 0 || (p.flags & add_to_c) != 0 ? 1 : 0;
    plan.add_call(runtime::enqueue_clblast, left.first.offset_by(first * left.layout.column),
                  right.first.offset_by(first * right.layout.row), at.c,
                  ClblastProduct{p.m, p.n, depth, p.batch, adds, {a, b, *c}});
  }
  return plan;
}

}  // namespace

PlanOr plan_gemm_clblast(const GemmProblem& p, const Target& target, std::size_t config) {
  if (p.types() != 0) return "it takes f32 alone";
  if (target.traits.simulated) return "CLBlast frees its programs when the simulator is gone";
  if (p.k == 0) return plan_gemm_plain(p, target, config);
  const bool by_rows = p.c.column == 1;
  PlanOr plan =
      by_rows ? plan_rows(p, gemm_places(p), target) : plan_rows(transposed(p), transposed(gemm_places(p)), target);
  if (!plan) return plan;
  add_epilogue(plan.plan(), p, target);
  if (target.traits.measured)
    return PlanOr::only_forced(std::move(plan.plan()), "the library's own kernels were measured on this device");
  return plan;
}

}  // namespace crisol::ops
