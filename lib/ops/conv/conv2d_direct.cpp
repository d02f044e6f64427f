// Convolution by its definition: each work-item adds up one result.
#include <algorithm>

#include "ops/conv/conv2d_variants.h"
#include "ops/product/gpu/tiled_product.h"
#include "ops/storage.h"

namespace crisol::ops {

namespace {

runtime::KernelSpec spec_of(const char* entry, std::int64_t type, std::int64_t result, std::string_view prelude = {}) {
  runtime::KernelSpec spec{"conv/conv2d_direct.cl", entry, elements_of(type), prelude};
  define_result_type(spec.defines, result);
  return spec;
}

}  // namespace

PlanOr plan_direct(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [x, weight, y] = operands<3>();
  const std::int64_t count = p.sizes.images * p.sizes.output_image();
  const EpilogueArgs e = p.epilogue_args(weight);
  Plan plan;
  plan.add(spec_of("conv2d_direct", p.type, p.type, epilogue_prelude(p.epilogue)), target.flat_range(count), x, weight,
           p.bias_or(weight), y, e, count, p.sizes.kernel_sizes(), p.sizes.kernel_window(), p.flags());
  return plan;
}

PlanOr plan_direct_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, weight, dx] = operands<3>();
  const std::int64_t count = p.sizes.images * p.sizes.input_image();
  Plan plan;
  plan.add(spec_of("conv2d_direct_data", p.type, p.type), target.flat_range(count), dy, weight, dx, count,
           p.sizes.kernel_sizes(), p.sizes.kernel_window());
  return plan;
}

PlanOr plan_direct_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  const std::int64_t count = s.weight_size(), rows = s.images * s.out_h;
  const std::int64_t max_rows = std::max<std::int64_t>(1, target.loop_budget / (s.out_w + 1));
  // Halves cannot hold the sums of a launch, to which the next launch adds.
  const bool as_part = p.type != 0 && max_rows < rows;
  Plan plan;
  const Place sums = as_part ? plan.workspace(4 * static_cast<std::uint64_t>(count)) : dw;
  std::int64_t first = 0;
  do {  // The loop runs once even without images, so that the gradient becomes 0.
    const std::int64_t end = max_rows < rows - first ? first + max_rows : rows;
    plan.add(spec_of("conv2d_direct_weight", p.type, as_part ? 0 : p.type), target.flat_range(count), dy, x, sums,
             count, s.kernel_sizes(), s.kernel_window(), first, end);
    first = end;
  } while (first < rows);
  if (as_part) add_numbers_sum(plan, target, sums, dw, count, 1, p.type);
  return plan;
}

}  // namespace crisol::ops
