// A recurrent layer of few hidden units in one launch: rnn_persistent_rows.cl.
#include "base/ceil_div.h"
#include "ops/layout/transpose_copy.h"
#include "ops/rnn/rnn_one_launch.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t group = 128, rows = 2,
                       max_hidden = 256;  // GROUP, ROWS and MAX_HIDDEN of rnn_persistent_rows.cl.
// A work-group reads all weights in every step, which must not take longer than the launches that it saves.
constexpr std::int64_t max_weight_bytes = std::int64_t{512} << 10;

runtime::KernelSpec kernel_of(const RnnProblem& p, const Target& target, const char* entry) {
  return rnn_kernel(p, target, "rnn/rnn_persistent_rows.cl", entry,
                    {{"GROUP", group}, {"ROWS", rows}, {"MAX_HIDDEN", max_hidden}});
}

runtime::NdRange groups_of(const RnnProblem& p) { return {{ceil_div(p.batch, rows) * group}, {group}}; }

const char* reason_against(const RnnProblem& p, const Target& target) {
  const DeviceInfo& info = target.info;
  if (p.hidden > max_hidden) return "more than 256 hidden units";
  if (4 * p.gate_rows() * p.hidden > max_weight_bytes) return "more than 512 KiB of recurrent weights";
  if (info.max_work_group < group) return "the device's work-groups are too small";
  if (static_cast<std::int64_t>(info.local_memory) < 4 * p.kind().gates * rows * max_hidden)
    return "the device has too little local memory";
  const std::int64_t units_of_item = ceil_div(p.hidden, group);
  return against_one_launch(p, target, units_of_item * (p.gate_rows() * (rows + 1) + 64));
}

// ---- The weight, (gate, unit, depth), with the gates last

Place add_transposed(Plan& plan, const RnnProblem& p, const Target& target, const char* kind, Place weight,
                     const TransposeProblem& transposes) {
  const auto bytes = 4 * static_cast<std::uint64_t>(p.gate_rows() * p.hidden);
  return plan.derive(weight, {kind, {p.cell, p.hidden}}, bytes, plan_transposes(transposes, target));
}

/// (depth, unit, gate).
Place add_forward_weight(Plan& plan, const RnnProblem& p, const Target& target, Place weight) {
  static constexpr char kind[] = "rnn_persistent_rows_forward";
  const std::int64_t h = p.hidden, gates = p.kind().gates;
  TransposeProblem of{.rows = h, .columns = h, .src_ld = h, .dst_ld = h};
  if (gates == 1) {
    of.add_axis(1, 0, 0);
  } else {
    of.columns = gates;
    of.src_ld = h * h;
    of.dst_ld = h * gates;
    of.add_axis(h, h, gates);
  }
  return add_transposed(plan, p, target, kind, weight, of);
}

/// (unit, depth, gate).
Place add_backward_weight(Plan& plan, const RnnProblem& p, const Target& target, Place weight) {
  static constexpr char kind[] = "rnn_persistent_rows_backward";
  const std::int64_t h = p.hidden, gates = p.kind().gates;
  if (gates == 1) return weight;
  TransposeProblem of{.rows = h * h, .columns = gates, .src_ld = h * h, .dst_ld = gates};
  of.add_axis(1, 0, 0);
  return add_transposed(plan, p, target, kind, weight, of);
}

}  // namespace

PlanOr plan_rnn_forward_persistent_rows(const RnnForward& p, const Target& target, std::size_t) {
  if (const char* reason = reason_against(p, target)) return reason;
  Plan plan;
  const Place weight = add_forward_weight(plan, p, target, RnnForwardOperands{}.weight_hh);
  add_one_launch(plan, p, target, kernel_of(p, target, "rnn_persistent_rows_forward"), groups_of(p), weight);
  return plan;
}

PlanOr plan_rnn_backward_persistent_rows(const RnnBackward& p, const Target& target, std::size_t) {
  if (const char* reason = reason_against(p, target)) return reason;
  Plan plan;
  const Place weight = add_backward_weight(plan, p, target, RnnBackwardOperands{}.weight_hh);
  add_one_launch(plan, p, target, kernel_of(p, target, "rnn_persistent_rows_backward"), groups_of(p), weight);
  return plan;
}

}  // namespace crisol::ops
