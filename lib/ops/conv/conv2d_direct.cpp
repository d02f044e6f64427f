// Convolution by its definition: each work-item adds up one result.
#include <algorithm>

#include "ops/conv/conv2d_variants.h"
#include "ops/storage.h"

namespace crisol::ops {

PlanOr plan_direct(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [x, weight, y] = operands<3>();
  const std::int64_t count = p.sizes.images * p.sizes.output_image();
  const EpilogueArgs e = p.epilogue_args(weight);
  Plan plan;
  plan.add({"conv/conv2d_direct.cl", "conv2d_direct", elements_of(p.type), epilogue_prelude(p.epilogue)},
           target.flat_range(count), x, weight, p.bias_or(weight), y, e, count, p.sizes.kernel_sizes(),
           p.sizes.kernel_window(), p.flags());
  return plan;
}

PlanOr plan_direct_data(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, weight, dx] = operands<3>();
  const std::int64_t count = p.sizes.images * p.sizes.input_image();
  Plan plan;
  plan.add({"conv/conv2d_direct.cl", "conv2d_direct_data", elements_of(p.type)}, target.flat_range(count), dy, weight,
           dx, count, p.sizes.kernel_sizes(), p.sizes.kernel_window());
  return plan;
}

PlanOr plan_direct_weight(const Conv2dProblem& p, const Target& target, std::size_t) {
  const auto [dy, x, dw] = operands<3>();
  const Conv2dSizes& s = p.sizes;
  const std::int64_t count = s.weight_size(), rows = s.images * s.out_h;
  const std::int64_t max_rows = std::max<std::int64_t>(1, target.loop_budget / (s.out_w + 1));
  Plan plan;
  std::int64_t first = 0;
  do {  // The loop runs once even without images, so that the gradient becomes 0.
    const std::int64_t end = max_rows < rows - first ? first + max_rows : rows;
    plan.add({"conv/conv2d_direct.cl", "conv2d_direct_weight", elements_of(p.type)}, target.flat_range(count), dy, x,
             dw, count, s.kernel_sizes(), s.kernel_window(), first, end);
    first = end;
  } while (first < rows);
  return plan;
}

}  // namespace crisol::ops
