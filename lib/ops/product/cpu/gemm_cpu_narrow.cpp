// Products of many rows with few columns, such as the last layer of a classifier. Tiles would compute dozens of
// columns.
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/storage.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t narrow_columns = 8, fewest_narrow_rows = 64, rows_of_unit = 8;
// Each item copies the right operand, which should stay in the cache. The copies should take less than the products.
constexpr std::int64_t largest_right = std::int64_t{1} << 15, copied_for_row = 16;

}  // namespace

PlanOr plan_gemm_cpu_narrow(const GemmProblem& p, const Target& target, std::size_t) {
  if (p.n > narrow_columns) return "more than 8 columns";
  if (p.m < fewest_narrow_rows) return "less than 64 rows";
  if (p.batch != 1) return "a batch of products";
  if (p.a.type != p.b.type) return "the operands have different types";
  if (p.a.column != 1) return "the rows of the left operand are not contiguous";
  if (p.n * p.k > largest_right) return "the right operand is too large for the cache";
  if (p.n * p.k > copied_for_row * p.m) return "few rows would use the copies of the right operand";
  const bool widens = p.a.type != 0 && p.n > 1;  // Rows of halves, which each column would widen again.
  const std::int64_t copied = p.n * p.k, of_unit = p.n * (p.k + rows_of_unit) + (widens ? p.k : 0);
  if (copied + of_unit > target.loop_budget) return "too deep for the device's loops";

  const GemmPlaces at = gemm_places(p);
  Plan plan;
  const runtime::NdRange range = persistent_range(target, ceil_div(p.m, rows_of_unit), of_unit + copied);
  const std::int64_t slice = (p.n + (widens ? rows_of_unit : 0)) * p.k;
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(range.global[0] * slice));
  runtime::KernelSpec spec{
      "product/cpu/gemm_cpu_narrow.cl", "gemm_narrow", {{"VW", rows_of_unit}}, epilogue_prelude(p.epilogue)};
  define_math(spec.defines, target.info);
  define_elements(spec.defines, p.a.type);
  if (widens) spec.defines.add({"WIDENED", 1});
  define_result_type(spec.defines, p.c.type);
  const EpilogueArgs e = at.epilogue(p, at.a);
  plan.add(spec, range, at.a, at.b, at.c, at.bias, scratch, e, p.whole(), kernels::MatrixParameters{0, p.a.row},
           p.b.parameters(), kernels::ResultParameters{0, p.c.row, p.c.column, 0});
  return plan;
}

}  // namespace crisol::ops
