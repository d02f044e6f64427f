// The problem that the variants of a recurrent layer get: the steps over the sequence. The products of backward that
// cover all steps at once are not a part of it.
#pragma once

#include "crisol/ops/rnn.h"
#include "dispatch/choose.h"
#include "ops/product/gemm.h"

namespace crisol::ops {

using namespace dispatch;

/// The differences between cells that the host needs to know. Kernels get them as defines.
struct RnnKind {
  const char* name;
  std::int64_t gates;  ///< The weights have gates * H rows.
  std::int64_t saved;  ///< The buffer of gates has saved * H columns.
  bool has_cell_state;
  bool saves_gates;  ///< Whether backward reads the gates. Otherwise it reads the outputs.
};
const RnnKind& kind_of(RnnCell cell) noexcept;

/// It consists of whole numbers, like every part of a problem.
struct RnnSizes {
  std::int64_t cell;     ///< An RnnCell.
  std::int64_t reverse;  ///< 1 if steps go from the last to the first.
  std::int64_t steps, batch, inputs, hidden, outputs;

  const RnnKind& kind() const noexcept { return kind_of(static_cast<RnnCell>(cell)); }
  std::int64_t gate_rows() const noexcept { return kind().gates * hidden; }
  std::int64_t saved_columns() const noexcept { return kind().saved * hidden; }
  /// The step that runs as the n-th.
  std::int64_t step(std::int64_t n) const noexcept { return reverse != 0 ? steps - 1 - n : n; }
  /// The positions in the buffers of states of the states before and after step t.
  std::int64_t slot_before(std::int64_t t) const noexcept { return reverse != 0 ? t + 1 : t; }
  std::int64_t slot_after(std::int64_t t) const noexcept { return reverse != 0 ? t : t + 1; }
};

/// A product's plan depends on where an operand starts, modulo this number of elements.
constexpr std::int64_t offset_period = 4;

/// The common part of the forward and the backward problem. Flags are 1 for yes and 0 for no.
struct RnnProblem : RnnSizes {
  std::int64_t padded;     ///< Whether there are lengths.
  std::int64_t projected;  ///< Whether there is a weight_hr.
  ProductContext products;
  /// The positions of their first elements, modulo offset_period.
  std::int64_t weight_hh_offset, weight_hr_offset;
  std::int64_t type;  ///< The DType of x, the weights, y and dy. Biases, states and gates are f32.

  double multiply_adds() const noexcept {
    return static_cast<double>(steps * batch) * static_cast<double>(gate_rows() * (inputs + outputs));
  }
  /// The problem of a product of m x k with k x n matrices, without their layouts.
  GemmProblem product_of(std::int64_t m, std::int64_t n, std::int64_t k) const noexcept;
  ProblemKey key() const {
    const ProblemKey key{{"cell", cell}, {"reverse", reverse}, {"t", steps},         {"b", batch},
                         {"i", inputs},  {"h", hidden},        {"outputs", outputs}, {"padded", padded}};
    return key.with_types(type);
  }
};

struct RnnForward : RnnProblem {
  std::int64_t x_offset, weight_ih_offset;  ///< As weight_hh_offset.
  std::int64_t biased;                      ///< Whether there are biases.
  std::int64_t saves;                       ///< Whether gates, cells and projected are kept for backward.
  static constexpr std::uint32_t written_operands = 0x1fu << 7;  // See RnnForwardOperands.
  std::int64_t has_h0, has_c0;  ///< Whether there are initial states. Otherwise they are 0.

  /// The position of the initial states in the buffers of states.
  std::int64_t first_slot() const noexcept { return slot_before(step(0)); }
  /// The distance between cell states of neighbouring steps, in elements. 0 if the states are updated in place.
  std::int64_t cell_slot() const noexcept { return saves != 0 ? batch * hidden : 0; }
};

struct RnnBackward : RnnProblem {
  std::int64_t has_dy;                                           ///< Whether the outputs have a gradient.
  static constexpr std::uint32_t written_operands = 0x1fu << 6;  // See RnnBackwardOperands.
  std::int64_t has_dh_n,
      has_dc_n;  ///< Whether the caller writes the gradients of the last states. Otherwise the plan does.
};

/// The operands of a forward plan, in the order in which launch() gets them. All are contiguous. A plan does not read
/// operands that the problem does not have.
struct RnnForwardOperands {
  Place x = operand(0), weight_ih = operand(1), bias_ih = operand(2), weight_hh = operand(3), bias_hh = operand(4),
        weight_hr = operand(5), lengths = operand(6);
  Place gates = operand(7);       ///< (T, B, saved_columns()). On return it holds the values that backward reads.
  Place states = operand(8);      ///< (T + 1, B, R). If gates are saved, h0 is in its slot on return.
  Place cells = operand(9);       ///< (T + 1, B, H), or (1, B, H) if nothing is saved.
  Place projected = operand(10);  ///< (T, B, H), or (1, B, H) if nothing is saved.
  Place y = operand(11);          ///< (T, B, R): only with lengths. Otherwise the outputs are the states.
  Place h0 = operand(12), c0 = operand(13);  ///< (B, R) and (B, H), of f32.
};

/// The operands of a backward plan, as in RnnForwardOperands.
struct RnnBackwardOperands {
  Place weight_hh = operand(0), weight_hr = operand(1), lengths = operand(2);
  Place gates = operand(3);       ///< As forward saved it.
  Place states = operand(4);      ///< As forward saved it: the cell states of an LSTM, or the states of other cells.
  Place dy = operand(5);          ///< (T, B, R).
  Place dinput = operand(6);      ///< (T, B, gate_rows()): the gradient of W_ih x + b_ih.
  Place drecurrent = operand(7);  ///< The gradient of W_hh h + b_hh. It is the same as dinput, except for the GRU.
  Place dprojected = operand(8);  ///< (T, B, R): the gradient of the product with weight_hr.
  Place dh = operand(9);          ///< (B, R): on entry the gradient of h_n, on return the gradient of h0.
  Place dc = operand(10);         ///< (B, H): like dh, for c_n and c0.
};

/// RnnFlags of cl_kernels/rnn/flags.h.
std::int32_t flags_of(const RnnForward& problem) noexcept;
std::int32_t flags_of(const RnnBackward& problem) noexcept;

/// A kernel for the cell. Its defines are `defines`, the cell's defines, FMA and the type of the elements.
runtime::KernelSpec rnn_kernel(const RnnProblem& problem, const Target& target, const char* source, const char* entry,
                               runtime::Defines defines = {});

/// Puts the initial states in their slots. Forward plans begin with this step, unless their kernel reads the states
/// where they are.
void add_first_states(Plan& plan, const RnnForward& problem, const Target& target);
/// Sets the initial states that are absent to 0, in one launch.
void add_absent_states(Plan& plan, const RnnForward& problem, const Target& target);
/// Sets the gradients of the last states that the caller does not write to 0. Every backward plan begins with this
/// step.
void add_absent_states(Plan& plan, const RnnBackward& problem, const Target& target);

/// With lengths: y[t] is the state after step t, and 0 after the end of a sequence. Every forward plan ends with this
/// step.
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
