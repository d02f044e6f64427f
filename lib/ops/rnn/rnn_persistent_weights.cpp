// A recurrent layer of few hidden units on GPUs in one launch that reads the recurrent weights once:
// rnn_persistent_weights.cl.
#include <algorithm>

#include "base/ceil_div.h"
#include "ops/rnn/rnn_one_launch.h"

namespace crisol::ops {

namespace {

// The registers of an item in addition to its weights and its four sums for each row.
constexpr std::int64_t other_registers = 36;
// Limits for the weights of a work-item. With more than max_weights, compilers moved some weights to memory. With more
// than many_weights, work-groups of more than usual_items take less time. With few_weights or less, more slices would
// only add more sums.
constexpr std::int64_t max_weights = 192, many_weights = 96, few_weights = 32, usual_items = 256;
// A multiprocessor of Intel can always run so many items at once, in sub-groups of eight.
constexpr std::int64_t max_items = 512;

/// UNITS, SLICES and ROWS of rnn_persistent_weights.cl.
struct WeightsSplit {
  std::int64_t gates, units, slices = 0, rows = 0;

  std::int64_t items() const { return gates * units / 4 * slices; }
  std::int64_t weights() const { return 4 * units / slices; }
  std::int64_t local_bytes() const { return 4 * rows * gates * units * (slices + 1); }
};

bool fits(const WeightsSplit& split, const Target& target) {
  const DeviceInfo& info = target.info;
  const std::int64_t registers = target.traits.registers_of_item(split.items());
  const std::int64_t weights = std::min(max_weights, registers - other_registers - 4 * split.rows);
  const std::int64_t items = std::min(max_items, static_cast<std::int64_t>(info.max_work_group));
  return split.items() <= items && split.weights() <= weights &&
         split.local_bytes() <= static_cast<std::int64_t>(info.local_memory);
}

// The split has no slices if nothing fits. It has as many rows as the batch has for each multiprocessor, but not more
// rows than the items have cells for.
WeightsSplit split_weights(const RnnSizes& s, const Target& target) {
  const std::int64_t gates = s.kind().gates, units = ceil_div(s.hidden, 16) * 16;
  WeightsSplit best{gates, units};
  for (std::int64_t slices = ceil_div(4, gates); 4 * slices <= units; ++slices) {
    const WeightsSplit split{gates, units, slices, 1};
    if (units % (4 * slices) != 0 || !fits(split, target)) continue;
    const std::int64_t enough = split.items() > usual_items ? many_weights : few_weights;
    if (best.slices != 0 && best.weights() <= enough) break;
    best = split;
  }
  std::int64_t max_rows = std::min<std::int64_t>(4, gates * best.slices / 4);
  const double of_multiprocessor = static_cast<double>(s.batch) / target.traits.multiprocessors;
  if (!target.takes_cpu_kernels())  // On CPUs, only tests run this kernel.
    max_rows = std::min(max_rows, 1 + static_cast<std::int64_t>(of_multiprocessor));
  for (WeightsSplit more = best; more.rows < max_rows; best = more) {
    ++more.rows;
    if (!fits(more, target)) break;
  }
  return best;
}

const char* reason_against(const RnnProblem& p, const Target& target, const WeightsSplit& split) {
  if (split.slices == 0) return "a work-group's registers do not hold the recurrent weights";
  return against_one_launch(p, target, split.rows * split.weights() + 4 * split.gates * split.slices + 64);
}

runtime::KernelSpec kernel_of(const RnnProblem& p, const Target& target, const WeightsSplit& split, const char* entry) {
  runtime::Defines defines{{"UNITS", split.units}, {"SLICES", split.slices}, {"ROWS", split.rows}};
  if (target.takes_cpu_kernels()) defines.add({"ROLLED", 1});
  return rnn_kernel(p, target, "rnn/rnn_persistent_weights.cl", entry, defines);
}

/// Neighbouring items compute the `outputs` outputs of a hidden unit.
runtime::NdRange groups_of(const RnnProblem& p, const WeightsSplit& split, std::int64_t outputs) {
  const std::int64_t groups = ceil_div(p.batch, split.rows);
  const std::int64_t width = outputs * split.units / 4, height = split.items() / width;
  return {{groups * width, height}, {width, height}};
}

}  // namespace

PlanOr plan_rnn_forward_persistent_weights(const RnnForward& p, const Target& target, std::size_t) {
  const WeightsSplit split = split_weights(p, target);
  if (const char* reason = reason_against(p, target, split)) return reason;
  Plan plan;
  add_one_launch(plan, p, target, kernel_of(p, target, split, "rnn_persistent_weights_forward"),
                 groups_of(p, split, split.gates), RnnForwardOperands{}.weight_hh);
  return plan;
}

PlanOr plan_rnn_backward_persistent_weights(const RnnBackward& p, const Target& target, std::size_t) {
  const WeightsSplit split = split_weights(p, target);
  if (const char* reason = reason_against(p, target, split)) return reason;
  Plan plan;
  add_one_launch(plan, p, target, kernel_of(p, target, split, "rnn_persistent_weights_backward"),
                 groups_of(p, split, 1), RnnBackwardOperands{}.weight_hh);
  return plan;
}

}  // namespace crisol::ops
