// A recurrent layer step by step, on every device: a product, then one launch for all elementwise work of the step.
#include "ops/rnn/rnn_product.h"

namespace crisol::ops {

namespace {

/// recurrent = before W_hhᵀ.
StepProduct recurrent_product(const RnnForward& p, const Target& target, Place weight_hh) {
  GemmProblem product = p.product_of(p.batch, p.gate_rows(), p.outputs);
  product.a = {p.outputs, 1};
  product.b = MatrixLayout{p.outputs, 1, 0, p.weight_hh_offset, p.type}.transposed();
  product.c = {p.gate_rows(), 1};
  return {target, product, weight_hh};
}

/// after += projected W_hrᵀ.
StepProduct output_product(const RnnForward& p, const Target& target, Place weight_hr) {
  GemmProblem product = p.product_of(p.batch, p.outputs, p.hidden);
  product.a = {p.hidden, 1};
  product.b = MatrixLayout{p.hidden, 1, 0, p.weight_hr_offset, p.type}.transposed();
  product.c = {p.outputs, 1};
  product.flags = add_to_c;
  return {target, product, weight_hr};
}

/// dh += drecurrent W_hh.
StepProduct recurrent_product(const RnnBackward& p, const Target& target, Place weight_hh) {
  GemmProblem product = p.product_of(p.batch, p.outputs, p.gate_rows());
  product.a = {p.gate_rows(), 1};
  product.b = {p.outputs, 1, 0, p.weight_hh_offset, p.type};
  product.c = {p.outputs, 1};
  product.flags = add_to_c;
  return {target, product, weight_hh};
}

/// dunprojected = dprojected W_hr.
StepProduct output_product(const RnnBackward& p, const Target& target, Place weight_hr) {
  GemmProblem product = p.product_of(p.batch, p.hidden, p.outputs);
  product.a = {p.outputs, 1};
  product.b = {p.hidden, 1, 0, p.weight_hr_offset, p.type};
  product.c = {p.hidden, 1};
  return {target, product, weight_hr};
}

std::uint64_t float_bytes(std::int64_t count) { return 4 * static_cast<std::uint64_t>(count); }

}  // namespace

PlanOr plan_rnn_forward_steps(const RnnForward& p, const Target& target, std::size_t) {
  const RnnForwardOperands o;
  const runtime::KernelSpec step = rnn_kernel(p, target, "rnn/rnn_steps.cl", "rnn_step_forward");
  const runtime::NdRange range = target.flat_range(p.batch * p.hidden);
  const bool projected = p.projected != 0;
  const std::int64_t out_slot = p.batch * p.outputs, saved_slot = p.batch * p.saved_columns();
  Plan plan;
  const Place recurrent = plan.workspace(float_bytes(p.batch * p.gate_rows()));
  StepProduct multiply = recurrent_product(p, target, o.weight_hh), project = output_product(p, target, o.weight_hr);
  add_first_states(plan, p, target);
  add_input_product(plan, p, target);
  for (std::int64_t n = 0; n < p.steps; ++n) {
    const std::int64_t t = p.step(n);
    const Place before = o.states.offset_by(p.slot_before(t) * out_slot);
    const Place after = o.states.offset_by(p.slot_after(t) * out_slot);
    const Place unprojected = o.projected.offset_by(projected && p.saves != 0 ? t * p.batch * p.hidden : 0);
    multiply.add(plan, before, recurrent);
    plan.add(step, range, o.gates.offset_by(t * saved_slot), recurrent, o.bias_hh, before, after,
             o.cells.offset_by(p.slot_before(t) * p.cell_slot()), o.cells.offset_by(p.slot_after(t) * p.cell_slot()),
             unprojected, o.lengths, p.batch, p.hidden, p.outputs, t, flags_of(p));
    if (projected) project.add(plan, unprojected, after);
  }
  add_masked_outputs(plan, p, target);
  return plan;
}

PlanOr plan_rnn_backward_steps(const RnnBackward& p, const Target& target, std::size_t) {
  const RnnBackwardOperands o;
  const runtime::KernelSpec step = rnn_kernel(p, target, "rnn/rnn_steps.cl", "rnn_step_backward");
  const runtime::KernelSpec output = rnn_kernel(p, target, "rnn/rnn_steps.cl", "rnn_output_backward");
  const bool projected = p.projected != 0, saves_gates = p.kind().saves_gates;
  const std::int64_t slot = p.batch * p.hidden, out_slot = p.batch * p.outputs, gate_slot = p.batch * p.gate_rows();
  const runtime::NdRange range = target.flat_range(slot), out_range = target.flat_range(out_slot);
  const std::int32_t flags = flags_of(p);
  Plan plan;
  add_absent_states(plan, p, target);
  const Place dunprojected = projected ? plan.workspace(float_bytes(slot)) : o.dh;
  StepProduct multiply = recurrent_product(p, target, o.weight_hh), project = output_product(p, target, o.weight_hr);
  for (std::int64_t n = p.steps - 1; n >= 0; --n) {
    const std::int64_t t = p.step(n);
    const Place dy = o.dy.offset_by(p.has_dy != 0 ? t * out_slot : 0);
    const Place drecurrent = o.drecurrent.offset_by(t * gate_slot);
    if (projected) {
      const Place doutput = o.dprojected.offset_by(t * out_slot);
      plan.add(output, out_range, dy, o.dh, doutput, o.lengths, p.batch, p.outputs, t, flags);
      project.add(plan, doutput, dunprojected);
    }
    plan.add(step, range, o.gates.offset_by(saves_gates ? t * p.batch * p.saved_columns() : 0),
             o.states.offset_by(p.slot_before(t) * slot), o.states.offset_by(p.slot_after(t) * slot), dy, o.dh, o.dc,
             dunprojected, o.dinput.offset_by(t * gate_slot), drecurrent, o.lengths, p.batch, p.hidden, t, flags);
    multiply.add(plan, drecurrent, o.dh);
  }
  return plan;
}

}  // namespace crisol::ops
