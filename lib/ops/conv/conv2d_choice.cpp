// conv2d_choice(): the variant that a convolution would get.
#include "crisol/ops/conv.h"
#include "ops/conv/conv2d_problem.h"

namespace crisol::ops {

Conv2dChoice conv2d_choice(Conv2dPass pass, const Shape& input, const Shape& weight, const Conv2dOptions& options,
                           Device device) {
  const Table<Conv2dProblem>* const tables[] = {&conv2d_table, &conv2d_backward_data_table,
                                                &conv2d_backward_weight_table};
  const Table<Conv2dProblem>& table = *tables[static_cast<int>(pass)];
  const Conv2dSizes sizes = conv2d_sizes(table.op, input, weight, options);
  const Conv2dProblem problem = conv2d_problem(sizes);
  const dispatch::Choice choice = choose(table, problem, target_of(device.state()));
  return {choice.variant.substr(0, choice.variant.find('/')), choice.plan.workspace_bytes()};
}

}  // namespace crisol::ops
