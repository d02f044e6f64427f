// Products of a few rows with a weight. The weight's packed copy is kept from its second use on. Such a product is one
// launch, and runs at the speed of the memory that holds the weight. The first use of a weight runs the same kernel, so
// the bits are the same.
#include "base/ceil_div.h"
#include "dispatch/work_split.h"
#include "ops/product/cpu/cpu_tiles.h"
#include "ops/storage.h"
#include "product/sizes.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

constexpr std::int64_t max_rows = 16, max_depth_of_few_columns = 8192;

// A weight of 1 MB stays in a core's cache. So it does not matter that a unit reads only a third of each panel's row.
constexpr std::int64_t small_weight = std::int64_t{1} << 18, few_panels = 8;

// Whether tiles have enough column panels for all cores, and take less time. 16 rows of depth 384 with 1536 columns
// take 98 µs with tiles and 130 µs without. But for a single row a tile computes 8 rows, and takes twice as long.
bool fits_tiles(const GemmProblem& p, const Target& target) {
  return p.m > 1 && (p.m > SKINNY_ROWS || p.n * p.k > small_weight) &&
         ceil_div(p.n, panel_columns(target)) >= few_panels;
}

std::int64_t vectors_of(const GemmProblem& p, const Target& target) {
  const std::int64_t width = target.cpu_vector_width();
  return ceil_div(p.n, width);
}

// The loop iterations of one unit of work, which is a vector of columns.
std::int64_t iterations_of_unit(const GemmProblem& p, const Target& target) {
  return ceil_div(p.m, SKINNY_ROWS) * (p.k + SKINNY_ROWS * (target.cpu_vector_width() + 4));
}

}  // namespace

PlanOr plan_gemm_cpu_skinny(const GemmProblem& p, const Target& target, std::size_t) {
  if (p.m > max_rows) return "more than 16 rows";
  std::optional<PackSource> source = b_source(p);
  if (p.b_is_weight == 0 || !source) return "the right operand is not known as a weight";
  if (fits_tiles(p, target)) return "tiles give all cores work";
  if (p.c.column != 1) return "the rows of the result are not contiguous";
  if (p.batch != 1) return "a batch of products";
  if (p.k > max_depth_of_few_columns && vectors_of(p, target) < 16) return "too deep for so few columns";
  if (iterations_of_unit(p, target) > target.loop_budget) return "too deep for the device's loops";

  source->packed_type = source->type;  // Memory limits the product, so the copy of halves consists of halves.
  const GemmPlaces at = gemm_places(p);
  const std::int64_t width = target.cpu_vector_width(), columns = panel_columns(target);
  const runtime::Defines defines = cpu_tile_defines(target, width, width == 16 ? 8 : 4, columns / width);
  Plan plan;
  const Place packed = derive_packed(plan, target, defines, at.b, *source, columns);
  const EpilogueArgs e = at.epilogue(p, at.a);
  runtime::KernelSpec spec{"product/cpu/gemm_cpu_skinny.cl", "gemm_skinny", defines, epilogue_prelude(p.epilogue)};
  define_elements(spec.defines, p.a.type);
  define_result_type(spec.defines, p.c.type);
  define_type(spec.defines, "PACKED", source->packed_type);
  plan.add(spec, persistent_range(target, vectors_of(p, target), iterations_of_unit(p, target)), at.a, packed, at.c,
           at.bias, e, p.whole(), p.a.parameters(), kernels::ResultParameters{p.c.batch, p.c.row, p.c.column, 0});
  return plan;
}

}  // namespace crisol::ops
