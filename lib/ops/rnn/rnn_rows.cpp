// A recurrent layer on CPUs in one launch: rnn_rows_forward.cl, rnn_rows_backward.cl.
#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/work_split.h"
#include "ops/rnn/rnn_product.h"
#include "rnn/flags.h"

namespace crisol::ops {

namespace {

runtime::KernelSpec kernel_of(const RnnProblem& s, const Target& target, const char* source, const char* entry) {
  return rnn_kernel(s, target, source, entry, {{"VW", target.cpu_vector_width()}});
}

// One work-item for each compute unit, but each has at least a few rows, which share the reads of the weights.
runtime::NdRange rows_range(const RnnProblem& s, const Target& target) {
  constexpr std::int64_t min_rows = 4;
  return {{std::min<std::int64_t>(target.info.compute_units, ceil_div(s.batch, min_rows))}, {1}};
}

/// A weight with `depth` columns, in the layout of a packing kernel.
struct PackedWeight {
  Place place;
  std::int64_t units;  ///< Units of work of the packing kernel: a gate of a block of hidden units.
};

PackedWeight derive_packed(Plan& plan, const RnnProblem& s, const Target& target, const char* kind, Place weight,
                           std::int64_t depth) {
  const std::int64_t lanes = target.cpu_vector_width(), units = s.kind().gates * ceil_div(s.hidden, lanes);
  return {plan.derive(weight, {kind, {s.hidden, depth, s.cell, s.type}},
                      4 * static_cast<std::uint64_t>(units * lanes * depth)),
          units};
}

Place packed_forward(Plan& plan, const RnnProblem& s, const Target& target, Place weight, std::int64_t depth) {
  static constexpr char kind[] = "rnn_pack_forward";
  const PackedWeight packed = derive_packed(plan, s, target, kind, weight, depth);
  plan.add_to_derived(packed.place, kernel_of(s, target, "rnn/rnn_rows_forward.cl", "rnn_pack_forward"),
                      persistent_range(target, packed.units, 20 * std::max<std::int64_t>(depth, 1)), weight,
                      packed.place, static_cast<std::int32_t>(s.hidden), static_cast<std::int32_t>(depth));
  return packed.place;
}

Place packed_backward(Plan& plan, const RnnProblem& s, const Target& target, Place weight) {
  static constexpr char kind[] = "rnn_pack_backward";
  const PackedWeight packed = derive_packed(plan, s, target, kind, weight, s.outputs);
  plan.add_to_derived(packed.place, kernel_of(s, target, "rnn/rnn_rows_backward.cl", "rnn_pack_backward"),
                      persistent_range(target, packed.units, 20 * s.outputs), weight, packed.place,
                      static_cast<std::int32_t>(s.hidden));
  return packed.place;
}

// Whether the step kernel also multiplies the input. This saves writing and reading the products. It saves time if
// there are few steps, or if several rows share the reads of both weights and the weights fit well into the L2 cache.
// The kernel reads an x of f32 alone.
bool multiplies_input(const RnnProblem& s) {
  constexpr std::int64_t max_bytes = 2 << 20, min_batch = 8, few_steps = 4;
  if (s.type != 0) return false;
  if (s.steps <= few_steps) return true;
  return s.batch >= min_batch && 4 * s.gate_rows() * (s.inputs + s.hidden) <= max_bytes;
}

// Whether the kernel reads the initial states where they are. Backward wants them in their slots.
bool reads_states_in_place(const RnnForward& p) { return p.saves == 0; }

const char* reason_against_rows(const RnnProblem& p, const Target& target) {
  if (p.projected != 0) return "the output is projected";
  if (std::max({p.steps, p.batch, p.inputs, p.gate_rows()}) > std::numeric_limits<std::int32_t>::max() / 4)
    return "sizes beyond the kernel's int indices";
  const std::int64_t rounds = p.steps * p.batch * p.gate_rows() * (p.inputs + p.hidden + 32);
  return target.against_iterations(rounds / 4);
}

}  // namespace

PlanOr plan_rnn_forward_rows(const RnnForward& p, const Target& target, std::size_t) {
  if (const char* reason = reason_against_rows(p, target)) return reason;
  const RnnForwardOperands o;
  const bool fused = multiplies_input(p), in_place = reads_states_in_place(p);
  Plan plan;
  if (in_place)
    add_absent_states(plan, p, target);
  else
    add_first_states(plan, p, target);
  const Place weight_hh = packed_forward(plan, p, target, o.weight_hh, p.hidden);
  const Place weight_ih = fused ? packed_forward(plan, p, target, o.weight_ih, p.inputs) : weight_hh;
  if (!fused) add_input_product(plan, p, target);
  const std::int64_t slot = p.first_slot();
  const Place h0 = in_place && p.has_h0 != 0 ? o.h0 : o.states.offset_by(slot * p.batch * p.outputs);
  const Place c0 = in_place && p.has_c0 != 0 ? o.c0 : o.cells.offset_by(slot * p.cell_slot());
  plan.add(kernel_of(p, target, "rnn/rnn_rows_forward.cl", "rnn_rows_forward"), rows_range(p, target),
           fused ? o.x : weight_hh, weight_ih, o.bias_ih, weight_hh, o.bias_hh, h0, c0, o.gates, o.states, o.cells,
           o.lengths, static_cast<std::int32_t>(p.steps), static_cast<std::int32_t>(p.batch),
           static_cast<std::int32_t>(p.inputs), static_cast<std::int32_t>(p.hidden), p.cell_slot(),
           flags_of(p) | (fused ? kernels::WITH_INPUT : 0));
  add_masked_outputs(plan, p, target);
  return plan;
}

PlanOr plan_rnn_backward_rows(const RnnBackward& p, const Target& target, std::size_t) {
  if (const char* reason = reason_against_rows(p, target)) return reason;
  const RnnBackwardOperands o;
  Plan plan;
  add_absent_states(plan, p, target);
  const Place weight_hh = packed_backward(plan, p, target, o.weight_hh);
  plan.add(kernel_of(p, target, "rnn/rnn_rows_backward.cl", "rnn_rows_backward"), rows_range(p, target), weight_hh,
           o.gates, o.states, o.dy, o.dh, o.dc, o.dinput, o.drecurrent, o.lengths, static_cast<std::int32_t>(p.steps),
           static_cast<std::int32_t>(p.batch), static_cast<std::int32_t>(p.hidden), flags_of(p));
  return plan;
}

}  // namespace crisol::ops
