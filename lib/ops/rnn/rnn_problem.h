// A recurrent layer as its variants see it: the steps over the sequence, without the products of backward that cover
// all of them.
#pragma once

#include "crisol/ops/rnn.h"
#include "dispatch/choose.h"
#include "ops/product/gemm.h"

namespace crisol::ops {

using namespace dispatch;

/// The differences between the cells that the host needs to know. The kernels get it as defines.
struct RnnKind {
  const char* name;
  std::int64_t gates;  ///< The weights have this many times H rows.
  std::int64_t saved;  ///< The buffer of gates has this many times H columns.
  bool has_cell_state;
  bool saves_gates;  ///< Whether backward reads them. Otherwise it reads the outputs.
};
const RnnKind& kind_of(RnnCell cell) noexcept;

/// Whole numbers only, like every part of a problem.
struct RnnSizes {
  std::int64_t cell;     ///< An RnnCell.
  std::int64_t reverse;  ///< 1: from the last step to the first.
  std::int64_t steps, batch, inputs, hidden, outputs;

  const RnnKind& kind() const noexcept { return kind_of(static_cast<RnnCell>(cell)); }
  std::int64_t gate_rows() const noexcept { return kind().gates * hidden; }
  std::int64_t saved_columns() const noexcept { return kind().saved * hidden; }
  /// The step that runs as number n.
  std::int64_t step(std::int64_t n) const noexcept { return reverse != 0 ? steps - 1 - n : n; }
  /// The positions of the states before and after step t in the buffers of states.
  std::int64_t slot_before(std::int64_t t) const noexcept { return reverse != 0 ? t + 1 : t; }
  std::int64_t slot_after(std::int64_t t) const noexcept { return reverse != 0 ? t : t + 1; }
};

/// Products see where an operand starts modulo this many elements.
constexpr std::int64_t offset_period = 4;

/// The common part of the forward and the backward problem. Answers are 1 for yes and 0 for no.
struct RnnProblem : RnnSizes {
  std::int64_t padded;     ///< Whether there are lengths.
  std::int64_t projected;  ///< Whether there is a weight_hr.
  ProductContext products;
  /// The position of the first element, modulo offset_period.
  std::int64_t weight_hh_offset, weight_hr_offset;

  double multiply_adds() const noexcept {
    return static_cast<double>(steps * batch) * static_cast<double>(gate_rows() * (inputs + outputs));
  }
  /// A product of m x k with k x n matrices, without its layouts.
  GemmProblem product_of(std::int64_t m, std::int64_t n, std::int64_t k) const noexcept;
  ProblemKey key() const {
    return {{"cell", cell}, {"reverse", reverse}, {"t", steps},         {"b", batch},
            {"i", inputs},  {"h", hidden},        {"outputs", outputs}, {"padded", padded}};
  }
};

struct RnnForward : RnnProblem {
  std::int64_t x_offset, weight_ih_offset;  ///< As weight_hh_offset.
  std::int64_t biased;                      ///< Whether there are biases.
  std::int64_t saves;                       ///< Whether gates, cells and projected are kept for backward.
  static constexpr std::uint32_t written_operands = 0x1fu << 7;  // See RnnForwardOperands.
  std::int64_t has_h0, has_c0;  ///< Whether the caller writes the initial states. Otherwise the plan does.

  /// The position of the initial states in the buffers of states.
  std::int64_t first_slot() const noexcept { return slot_before(step(0)); }
  /// Elements between the cell states of neighbouring steps. It is 0 if the states are updated in place.
  std::int64_t cell_slot() const noexcept { return saves != 0 ? batch * hidden : 0; }
};

struct RnnBackward : RnnProblem {
  std::int64_t has_dy;                                           ///< Whether the outputs have a gradient.
  static constexpr std::uint32_t written_operands = 0x1fu << 6;  // See RnnBackwardOperands.
  std::int64_t has_dh_n,
      has_dc_n;  ///< Whether the caller writes the gradients of the last states. Otherwise the plan does.
};

/// The operands of a forward plan, in the order in which launch() gets them. All are contiguous. A plan does not read
/// an operand that the problem lacks. The only scalar is absent_state.
struct RnnForwardOperands {
  Place x = operand(0), weight_ih = operand(1), bias_ih = operand(2), weight_hh = operand(3), bias_hh = operand(4),
        weight_hr = operand(5), lengths = operand(6);
  Place gates = operand(7);       ///< (T, B, saved_columns()): afterwards the values that backward reads.
  Place states = operand(8);      ///< (T + 1, B, R), with h0 in its slot.
  Place cells = operand(9);       ///< (T + 1, B, H), or (1, B, H) if nothing is saved, with c0 in its slot.
  Place projected = operand(10);  ///< (T, B, H), or (1, B, H) if nothing is saved.
  Place y = operand(11);          ///< (T, B, R): only with lengths. Otherwise the outputs are the states.
};

/// The operands of a backward plan, in the same way.
struct RnnBackwardOperands {
  Place weight_hh = operand(0), weight_hr = operand(1), lengths = operand(2);
  Place gates = operand(3);       ///< As forward saved it.
  Place states = operand(4);      ///< As forward saved it: the cell states of an LSTM, or the states of other cells.
  Place dy = operand(5);          ///< (T, B, R).
  Place dinput = operand(6);      ///< (T, B, gate_rows()): the gradient of W_ih x + b_ih.
  Place drecurrent = operand(7);  ///< The gradient of W_hh h + b_hh. For other cells than the GRU it is dinput.
  Place dprojected = operand(8);  ///< (T, B, R): the gradient of weight_hr's product.
  Place dh = operand(9);          ///< (B, R): first the gradient of h_n, afterwards the gradient of h0.
  Place dc = operand(10);         ///< (B, H): the same for c_n and c0.
};

/// Plans fill absent initial states with this number, and absent gradients of the last states.
constexpr float absent_state = 0;

/// RnnFlags of cl_kernels/rnn/flags.h.
std::int32_t flags_of(const RnnForward& problem) noexcept;
std::int32_t flags_of(const RnnBackward& problem) noexcept;

/// A kernel for the cell. `defines` are added to the defines of the cell and of FMA.
runtime::KernelSpec rnn_kernel(const RnnSizes& sizes, const Target& target, const char* source, const char* entry,
                               runtime::Defines defines = {});

/// Fills the states that the caller does not write: the initial ones, or the gradients of the last ones. Every plan
/// begins with it.
void add_absent_states(Plan& plan, const RnnForward& problem, const Target& target);
void add_absent_states(Plan& plan, const RnnBackward& problem, const Target& target);

/// With lengths: y[t] = the state after step t, and 0 after a sequence's end. Every forward plan ends with it.
void add_masked_outputs(Plan& plan, const RnnForward& problem, const Target& target);

// The variants of "rnn_forward" and "rnn_backward".
PlanOr plan_rnn_forward_rows(const RnnForward& problem, const Target& target, std::size_t config);
PlanOr plan_rnn_forward_persistent_weights(const RnnForward& problem, const Target& target, std::size_t config);
PlanOr plan_rnn_forward_persistent_rows(const RnnForward& problem, const Target& target, std::size_t config);
PlanOr plan_rnn_forward_steps(const RnnForward& problem, const Target& target, std::size_t config);

PlanOr plan_rnn_backward_rows(const RnnBackward& problem, const Target& target, std::size_t config);
PlanOr plan_rnn_backward_persistent_weights(const RnnBackward& problem, const Target& target, std::size_t config);
PlanOr plan_rnn_backward_persistent_rows(const RnnBackward& problem, const Target& target, std::size_t config);
PlanOr plan_rnn_backward_steps(const RnnBackward& problem, const Target& target, std::size_t config);

}  // namespace crisol::ops
