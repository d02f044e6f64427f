#include "ops/rnn/rnn_one_launch.h"

#include <algorithm>
#include <limits>

#include "ops/rnn/rnn_product.h"

namespace crisol::ops {

const char* against_one_launch(const RnnProblem& p, const Target& target, std::int64_t iterations) {
  if (p.projected != 0) return "the output is projected";
  if (std::max(p.steps, p.batch) > std::numeric_limits<std::int32_t>::max() / 4)
    return "sizes beyond the kernel's int indices";
  return target.against_iterations(p.steps * iterations);
}

void add_one_launch(Plan& plan, const RnnForward& p, const Target& target, const runtime::KernelSpec& spec,
                    const runtime::NdRange& range, Place weight) {
  const RnnForwardOperands o;
  add_first_states(plan, p, target);
  add_input_product(plan, p, target);
  plan.add(spec, range, weight, o.bias_hh, o.gates, o.states, o.cells, o.lengths, static_cast<std::int32_t>(p.steps),
           static_cast<std::int32_t>(p.batch), static_cast<std::int32_t>(p.hidden), p.cell_slot(), flags_of(p));
  add_masked_outputs(plan, p, target);
}

void add_one_launch(Plan& plan, const RnnBackward& p, const Target& target, const runtime::KernelSpec& spec,
                    const runtime::NdRange& range, Place weight) {
  const RnnBackwardOperands o;
  add_absent_states(plan, p, target);
  plan.add(spec, range, weight, o.gates, o.states, o.dy, o.dh, o.dc, o.dinput, o.drecurrent, o.lengths,
           static_cast<std::int32_t>(p.steps), static_cast<std::int32_t>(p.batch), static_cast<std::int32_t>(p.hidden),
           flags_of(p));
}

}  // namespace crisol::ops
