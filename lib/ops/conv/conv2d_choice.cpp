// Which variant a convolution would get.
#include "crisol/ops/conv.h"
#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

Conv2dChoice conv2d_choice(Conv2dPass pass, const Shape& input, const Shape& weight, const Conv2dOptions& options,
                           Device device) {
  struct Op {
    const char* name;
    std::span<const Variant<Conv2dProblem>> variants;
  };
  const Op ops[] = {{"conv2d", conv2d_variants()},
                    {"conv2d_backward_data", conv2d_backward_data_variants()},
                    {"conv2d_backward_weight", conv2d_backward_weight_variants()}};
  const Op& op = ops[static_cast<int>(pass)];
  const Conv2dSizes sizes = conv2d_sizes(op.name, input, weight, options);
  const Conv2dProblem problem = with_precision(op.name, {.sizes = sizes, .device = device.state()});
  const Variant<Conv2dProblem>& variant = *choose(op.name, op.variants, problem, device.info()).variant;
  return {variant.name, variant.workspace == nullptr ? 0 : variant.workspace(problem, device.info())};
}

}  // namespace crisol::ops
