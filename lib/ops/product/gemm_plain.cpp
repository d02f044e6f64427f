// The variant "plain", which takes every product.
#include <algorithm>

#include "base/ceil_div.h"
#include "dispatch/device_defines.h"
#include "ops/product/gemm.h"
#include "ops/product/gpu/tiled_product.h"
#include "ops/storage.h"

namespace crisol::ops {

using namespace dispatch;

PlanOr plan_gemm_plain(const GemmProblem& p, const Target& target, std::size_t) {
  const std::int64_t group = target.info.max_work_group >= 256 ? 16 : 8;
  // Each work-item computes 4 x 4 results, unless most of such a tile would be outside of C.
  const std::int64_t per = std::min(p.m, p.n) >= 2 * group ? 4 : 1;
  const std::int64_t side = group * per;
  const std::int64_t tiles = ceil_div(p.m, side) * ceil_div(p.n, side) * p.batch;
  runtime::KernelSpec spec{
      "product/gemm_plain.cl", "gemm_plain", {{"GROUP", group}, {"PER", per}}, epilogue_prelude(p.epilogue)};
  dispatch::define_math(spec.defines, target.info);
  define_storage(spec.defines, "A_STORAGE", p.a.type);
  define_storage(spec.defines, "B_STORAGE", p.b.type);
  define_result_type(spec.defines, p.c.type);
  const GemmPlaces at = gemm_places(p);
  const EpilogueArgs e = at.epilogue(p, at.a);
  Plan plan;
  plan.add(spec, {{tiles * group, group}, {group, group}}, at.a, at.b, at.c, at.bias, e, p.whole(), p.a.parameters(),
           p.b.parameters(), kernels::ResultParameters{p.c.batch, p.c.row, p.c.column, 0});
  return plan;
}

}  // namespace crisol::ops
