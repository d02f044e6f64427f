// A recurrent layer of few hidden units in one launch: rnn_persistent_rows.cl.
#include "base/ceil_div.h"
#include "ops/layout/transpose_copy.h"
#include "ops/rnn/rnn_one_launch.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t group = 128, max_hidden = 256;  // GROUP and MAX_HIDDEN of rnn_persistent_rows.cl.
// A work-group reads all weights in every step. This must not take longer than the launches that it saves.
constexpr std::int64_t max_weight_bytes = std::int64_t{1} << 20;

/// PARTS and ROWS of rnn_persistent_rows.cl.
struct RowsSplit {
  std::int64_t parts, rows;

  std::int64_t local_bytes(std::int64_t gates) const { return 4 * rows * (2 * max_hidden + parts * gates * group); }
};

// A group takes as many rows as the batch has for each multiprocessor, because a group reads all weights, however many
// rows it has.
RowsSplit split_rows(const RnnProblem& p, const Target& target) {
  const auto fits = [&](const RowsSplit& split) {
    return split.local_bytes(p.kind().gates) <= static_cast<std::int64_t>(target.info.local_memory);
  };
  const bool is_test = target.takes_cpu_kernels();  // On CPUs, only tests run this kernel.
  RowsSplit split{is_test ? 2 : 4, 1};
  while (split.parts > 1 &&
         (!fits(split) || split.parts * group > static_cast<std::int64_t>(target.info.max_work_group)))
    split.parts /= 2;
  if (is_test) return {split.parts, 2};
  const auto needs_more = [&] {
    return static_cast<double>(split.rows) * target.traits.multiprocessors < static_cast<double>(p.batch);
  };
  while (split.rows < 4 && needs_more() && fits({split.parts, 2 * split.rows})) split.rows *= 2;
  return split;
}

runtime::KernelSpec kernel_of(const RnnProblem& p, const Target& target, const char* entry) {
  const RowsSplit split = split_rows(p, target);
  return rnn_kernel(p, target, "rnn/rnn_persistent_rows.cl", entry,
                    {{"GROUP", group}, {"PARTS", split.parts}, {"ROWS", split.rows}, {"MAX_HIDDEN", max_hidden}});
}

runtime::NdRange groups_of(const RnnProblem& p, const Target& target) {
  const RowsSplit split = split_rows(p, target);
  return {{ceil_div(p.batch, split.rows) * group, split.parts}, {group, split.parts}};
}

const char* reason_against(const RnnProblem& p, const Target& target) {
  const DeviceInfo& info = target.info;
  const RowsSplit split = split_rows(p, target);
  if (p.type != 0) return "it reads weights of f32 alone";
  if (p.hidden > max_hidden) return "more than 256 hidden units";
  if (4 * p.gate_rows() * p.hidden > max_weight_bytes) return "more than 1 MiB of recurrent weights";
  if (static_cast<std::int64_t>(info.max_work_group) < group * split.parts)
    return "the device's work-groups are too small";
  if (static_cast<std::int64_t>(info.local_memory) < split.local_bytes(p.kind().gates))
    return "the device has too little local memory";
  const std::int64_t units_of_item = ceil_div(p.hidden, group);
  return against_one_launch(p, target, units_of_item * (p.gate_rows() * (split.rows + 1) + 64));
}

// ---- The weight (gate, unit, depth), rearranged with the gates last

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
  add_one_launch(plan, p, target, kernel_of(p, target, "rnn_persistent_rows_forward"), groups_of(p, target), weight);
  return plan;
}

PlanOr plan_rnn_backward_persistent_rows(const RnnBackward& p, const Target& target, std::size_t) {
  if (const char* reason = reason_against(p, target)) return reason;
  Plan plan;
  const Place weight = add_backward_weight(plan, p, target, RnnBackwardOperands{}.weight_hh);
  add_one_launch(plan, p, target, kernel_of(p, target, "rnn_persistent_rows_backward"), groups_of(p, target), weight);
  return plan;
}

}  // namespace crisol::ops
