// A recurrent layer as its variants see it: the steps over the sequence, without the products that cover all of them.
#pragma once

#include <array>

#include "crisol/ops/rnn.h"
#include "dispatch/variant.h"
#include "runtime/launch.h"

namespace crisol::ops {

/// What distinguishes the cells for the host; the kernels get it as defines.
struct RnnKind {
  const char* name;
  std::int64_t gates;  ///< Rows of the weights are this many times H.
  std::int64_t saved;  ///< Columns of the buffer of gates are this many times H.
  bool has_cell_state;
  bool saves_gates;  ///< Backward reads them; else it reads the outputs.
};
const RnnKind& kind_of(RnnCell cell) noexcept;

struct RnnSizes {
  RnnCell cell;
  bool reverse;
  std::int64_t steps, batch, inputs, hidden, outputs;

  const RnnKind& kind() const noexcept { return kind_of(cell); }
  std::int64_t gate_rows() const noexcept { return kind().gates * hidden; }
  std::int64_t saved_columns() const noexcept { return kind().saved * hidden; }
  /// The step that is done as the n-th.
  std::int64_t step(std::int64_t n) const noexcept { return reverse ? steps - 1 - n : n; }
  /// Where states before and after step t stand in the buffers of states.
  std::int64_t slot_before(std::int64_t t) const noexcept { return reverse ? t + 1 : t; }
  std::int64_t slot_after(std::int64_t t) const noexcept { return reverse ? t : t + 1; }
  ProblemKey key(bool padded) const {
    return {{"cell", static_cast<std::int64_t>(cell)},
            {"reverse", reverse},
            {"t", steps},
            {"b", batch},
            {"i", inputs},
            {"h", hidden},
            {"outputs", outputs},
            {"padded", padded}};
  }
};

/// All tensors are contiguous; absent ones are undefined.
struct RnnForward {
  RnnSizes sizes;
  Tensor x, weight_ih, bias_ih, weight_hh, bias_hh, weight_hr, lengths;
  Tensor gates;      ///< (T, B, saved_columns()): afterwards what backward reads.
  Tensor states;     ///< (T + 1, B, R), h0 in its slot.
  Tensor cells;      ///< (T + 1, B, H), or (1, B, H): updated in place; c0 in its slot.
  Tensor projected;  ///< (T, B, H), or (1, B, H).
  bool save;         ///< Write what backward reads to gates.

  ProblemKey key() const { return sizes.key(lengths.defined()); }
};

struct RnnBackward {
  RnnSizes sizes;
  Tensor weight_hh, weight_hr, lengths;
  RnnSaved saved;
  Tensor dy;          ///< (T, B, R), or undefined.
  Tensor dinput;      ///< (T, B, gate_rows()): gradient of W_ih x + b_ih.
  Tensor drecurrent;  ///< The same of W_hh h + b_hh; of other cells than the GRU dinput itself.
  Tensor dprojected;  ///< (T, B, R): gradient of weight_hr's product.
  Tensor dh, dc;      ///< (B, R) and (B, H): on entry those of h_n and c_n, on return those of h0 and c0.

  ProblemKey key() const { return sizes.key(lengths.defined()); }
};

/// What the kernels of all variants are told; the numbers are those of cl_kernels/rnn/rnn_cell.h.
enum RnnFlag : std::int32_t {
  with_lengths = 1,
  with_bias = 2,
  keep = 4,
  projects = 8,
  with_dy = 16,
  in_reverse = 32,
  with_input = 64,
};
std::int32_t flags_of(const RnnForward& problem) noexcept;
std::int32_t flags_of(const RnnBackward& problem) noexcept;

/// A kernel for a cell; `defines` are further ones than the cell's and FMA's.
runtime::Kernel& rnn_kernel(runtime::DeviceState& device, RnnCell cell, const char* source, const char* entry,
                            runtime::Defines defines = {});

/// What is read where it is there; else what stands in a kernel's argument that is not looked at.
inline const Tensor& defined_or(const Tensor& wanted, const Tensor& other) { return wanted.defined() ? wanted : other; }

/// gates[:, :, 0 … gate_rows()) = x W_ihᵀ + b_ih, for all steps at once.
void multiply_input(const RnnForward& problem);

// The variants of "rnn_forward" and "rnn_backward": rows (CPUs), resident (hidden units whose weights a work-group
// holds in registers), group (few hidden units), steps.
const char* refuse_rnn_forward_rows(const RnnForward& problem, const DeviceInfo& info);
void run_rnn_forward_rows(const RnnForward& problem);
const char* refuse_rnn_backward_rows(const RnnBackward& problem, const DeviceInfo& info);
void run_rnn_backward_rows(const RnnBackward& problem);

const char* refuse_rnn_forward_resident(const RnnForward& problem, const DeviceInfo& info);
void run_rnn_forward_resident(const RnnForward& problem);
const char* refuse_rnn_backward_resident(const RnnBackward& problem, const DeviceInfo& info);
void run_rnn_backward_resident(const RnnBackward& problem);

const char* refuse_rnn_forward_group(const RnnForward& problem, const DeviceInfo& info);
void run_rnn_forward_group(const RnnForward& problem);
const char* refuse_rnn_backward_group(const RnnBackward& problem, const DeviceInfo& info);
void run_rnn_backward_group(const RnnBackward& problem);

void run_rnn_forward_steps(const RnnForward& problem);
void run_rnn_backward_steps(const RnnBackward& problem);

}  // namespace crisol::ops
