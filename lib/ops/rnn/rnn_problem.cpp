#include "ops/rnn/rnn_problem.h"

#include <algorithm>

#include "dispatch/device_defines.h"
#include "ops/layout/copy_plan.h"
#include "ops/storage.h"
#include "rnn/flags.h"

namespace crisol::ops {

const RnnKind& kind_of(RnnCell cell) noexcept {
  static constexpr RnnKind kinds[] = {{"RNN_TANH", 1, 1, false, false},
                                      {"RNN_RELU", 1, 1, false, false},
                                      {"LSTM", 4, 4, true, true},
                                      {"GRU", 3, 4, false, true}};
  return kinds[static_cast<std::size_t>(cell)];
}

namespace {

std::int32_t common_flags(const RnnProblem& p) noexcept {
  return (p.padded != 0 ? kernels::WITH_LENGTHS : 0) | (p.projected != 0 ? kernels::PROJECTS : 0) |
         (p.reverse != 0 ? kernels::REVERSE : 0);
}

/// Sets elements of states or of their gradients to 0.
void add_clear(Plan& plan, const Target& target, Place h, std::int64_t h_count, Place c, std::int64_t c_count) {
  const std::int64_t count = std::max(h_count, c_count);
  if (count > 0) plan.add({"rnn/rnn_clear.cl", "rnn_clear", {}}, target.flat_range(count), h, c, h_count, c_count);
}

}  // namespace

GemmProblem RnnProblem::product_of(std::int64_t m, std::int64_t n, std::int64_t k) const noexcept {
  GemmProblem problem{};
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.context = products;
  return problem;
}

std::int32_t flags_of(const RnnForward& p) noexcept {
  return common_flags(p) | (p.biased != 0 ? kernels::WITH_BIAS : 0) | (p.saves != 0 ? kernels::KEEP : 0);
}

std::int32_t flags_of(const RnnBackward& p) noexcept {
  return common_flags(p) | (p.has_dy != 0 ? kernels::WITH_DY : 0);
}

runtime::KernelSpec rnn_kernel(const RnnProblem& p, const Target& target, const char* source, const char* entry,
                               runtime::Defines defines) {
  const RnnKind& kind = p.kind();
  defines.add({"CELL", kind.name});
  defines.add({"GATES", kind.gates});
  defines.add({"SAVED", kind.saved});
  dispatch::define_math(defines, target.info);
  define_elements(defines, p.type);
  return {source, entry, defines};
}

void add_absent_states(Plan& plan, const RnnForward& p, const Target& target) {
  const RnnForwardOperands o;
  const std::int64_t slot = p.first_slot(), outputs = p.batch * p.outputs;
  add_clear(plan, target, o.states.offset_by(slot * outputs), p.has_h0 == 0 ? outputs : 0,
            o.cells.offset_by(slot * p.cell_slot()), p.kind().has_cell_state && p.has_c0 == 0 ? p.batch * p.hidden : 0);
}

void add_first_states(Plan& plan, const RnnForward& p, const Target& target) {
  const RnnForwardOperands o;
  const std::int64_t slot = p.first_slot(), outputs = p.batch * p.outputs;
  if (p.has_h0 != 0) add_copy(plan, o.h0, o.states.offset_by(slot * outputs), outputs);
  if (p.has_c0 != 0) add_copy(plan, o.c0, o.cells.offset_by(slot * p.cell_slot()), p.batch * p.hidden);
  add_absent_states(plan, p, target);
}

void add_absent_states(Plan& plan, const RnnBackward& p, const Target& target) {
  const RnnBackwardOperands o;
  add_clear(plan, target, o.dh, p.has_dh_n == 0 ? p.batch * p.outputs : 0, o.dc,
            p.kind().has_cell_state && p.has_dc_n == 0 ? p.batch * p.hidden : 0);
}

void add_masked_outputs(Plan& plan, const RnnForward& p, const Target& target) {
  if (p.padded == 0) return;
  const RnnForwardOperands o;
  const std::int64_t count = p.steps * p.batch * p.outputs;
  plan.add({"rnn/rnn_outputs.cl", "rnn_outputs", elements_of(p.type)}, target.flat_range(count),
           o.states.offset_by(p.slot_after(0) * p.batch * p.outputs), o.lengths, o.y, count, p.batch, p.outputs);
}

}  // namespace crisol::ops
