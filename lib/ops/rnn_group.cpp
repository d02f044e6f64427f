// A recurrent layer of few hidden units on GPUs in one launch: rnn_group.cl.
#include <limits>

#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "ops/gemm.h"
#include "ops/persistent.h"
#include "ops/rnn_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t group = 128, rows = 2, most_hidden = 256;  // GROUP, ROWS and MOST_HIDDEN of rnn_group.cl.
// A work-group reads all weights in every step, which must not take longer than the launches that it saves.
constexpr std::int64_t most_weights = std::int64_t{512} << 10;

runtime::Kernel& kernel_of(runtime::DeviceState& device, RnnCell cell, const char* entry) {
  return rnn_kernel(device, cell, "rnn_group.cl", entry,
                    {{"GROUP", group}, {"ROWS", rows}, {"MOST_HIDDEN", most_hidden}});
}

runtime::NdRange groups_of(const RnnSizes& s) { return {{(s.batch + rows - 1) / rows * group}, {group}}; }

/// A weight (GATES H, H) as the kernels read it: (depth, unit, gate).
Tensor packed(const RnnSizes& s, const Tensor& weight, const Shape& axes) {
  return contiguous(permute(reshape(weight, {s.kind().gates, s.hidden, s.hidden}), axes));
}

const char* refuse(const RnnSizes& s, bool projected, const DeviceInfo& info) {
  if (projected) return "the output is projected";
  if (s.hidden > most_hidden || 4 * s.gate_rows() * s.hidden > most_weights) return "too many hidden units";
  if (info.max_work_group < group) return "the device's work-groups are too small";
  if (static_cast<std::int64_t>(info.local_memory) < 4 * s.kind().gates * rows * most_hidden)
    return "the device has too little local memory";
  if (std::max(s.steps, s.batch) > std::numeric_limits<std::int32_t>::max() / 4)
    return "sizes beyond the kernel's int indices";
  const std::int64_t rounds = s.steps * ((s.hidden + group - 1) / group) * (s.gate_rows() * (rows + 1) + 64);
  return rounds <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

}  // namespace

const char* refuse_rnn_forward_group(const RnnForward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.projected.defined(), info);
}

void run_rnn_forward_group(const RnnForward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.gates);
  runtime::Kernel& kernel = kernel_of(device, s.cell, "rnn_group_forward");
  const Tensor weight = packed(s, p.weight_hh, {2, 1, 0});
  multiply_input(p);
  runtime::launch(device, kernel, groups_of(s), in(weight), in(defined_or(p.bias_hh, p.gates)), out(p.gates),
                  out(p.states), out(defined_or(p.cells, p.states)), in(defined_or(p.lengths, p.gates)),
                  static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch),
                  static_cast<std::int32_t>(s.hidden), p.save ? s.batch * s.hidden : std::int64_t{0}, flags_of(p));
}

const char* refuse_rnn_backward_group(const RnnBackward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.dprojected.defined(), info);
}

void run_rnn_backward_group(const RnnBackward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.dinput);
  runtime::Kernel& kernel = kernel_of(device, s.cell, "rnn_group_backward");
  const Tensor weight = packed(s, p.weight_hh, {1, 2, 0});
  runtime::launch(device, kernel, groups_of(s), in(weight), in(defined_or(p.saved.gates, p.dinput)),
                  in(defined_or(p.saved.cells, p.saved.states)), in(defined_or(p.dy, p.dinput)), out(p.dh),
                  out(defined_or(p.dc, p.dh)), out(p.dinput), out(p.drecurrent), in(defined_or(p.lengths, p.dinput)),
                  static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch),
                  static_cast<std::int32_t>(s.hidden), flags_of(p));
}

}  // namespace crisol::ops
