// A recurrent layer of few hidden units on GPUs in one launch: rnn_group.cl.
#include "ops/rnn/rnn_group.h"

#include <limits>

#include "base/ceil_div.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/view.h"
#include "dispatch/persistent.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr std::int64_t group = 128, rows = 2, most_hidden = 256;  // GROUP, ROWS and MOST_HIDDEN of rnn_group.cl.
// A work-group reads all weights in every step, which must not take longer than the launches that it saves.
constexpr std::int64_t most_weights = std::int64_t{512} << 10;

runtime::Kernel& kernel_of(runtime::DeviceState& device, RnnCell cell, const char* entry) {
  return rnn_kernel(device, cell, "rnn/rnn_group.cl", entry,
                    {{"GROUP", group}, {"ROWS", rows}, {"MOST_HIDDEN", most_hidden}});
}

runtime::NdRange groups_of(const RnnSizes& s) { return {{ceil_div(s.batch, rows) * group}, {group}}; }

/// A weight (GATES H, H) as the kernels read it: (depth, unit, gate).
Tensor packed(const RnnSizes& s, const Tensor& weight, const Shape& axes) {
  return contiguous(permute(reshape(weight, {s.kind().gates, s.hidden, s.hidden}), axes));
}

const char* refuse(const RnnSizes& s, bool projected, const DeviceInfo& info) {
  if (s.hidden > most_hidden) return "more than 256 hidden units";
  if (4 * s.gate_rows() * s.hidden > most_weights) return "more than 512 KiB of recurrent weights";
  if (info.max_work_group < group) return "the device's work-groups are too small";
  if (static_cast<std::int64_t>(info.local_memory) < 4 * s.kind().gates * rows * most_hidden)
    return "the device has too little local memory";
  const std::int64_t units_of_item = ceil_div(s.hidden, group);
  return refuse_rnn_rows(s, projected, units_of_item * (s.gate_rows() * (rows + 1) + 64), info);
}

}  // namespace

const char* refuse_rnn_rows(const RnnSizes& s, bool projected, std::int64_t iterations, const DeviceInfo& info) {
  if (projected) return "the output is projected";
  if (std::max(s.steps, s.batch) > std::numeric_limits<std::int32_t>::max() / 4)
    return "sizes beyond the kernel's int indices";
  return s.steps * iterations <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

void launch_rnn_forward(const RnnForward& p, runtime::Kernel& kernel, const runtime::NdRange& range,
                        const Tensor& weight) {
  const RnnSizes& s = p.sizes;
  multiply_input(p);
  runtime::launch(state_of(p.gates), kernel, range, in(weight), in(defined_or(p.bias_hh, p.gates)), out(p.gates),
                  out(p.states), out(defined_or(p.cells, p.states)), in(defined_or(p.lengths, p.gates)),
                  static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch),
                  static_cast<std::int32_t>(s.hidden), p.save ? s.batch * s.hidden : std::int64_t{0}, flags_of(p));
}

void launch_rnn_backward(const RnnBackward& p, runtime::Kernel& kernel, const runtime::NdRange& range,
                         const Tensor& weight) {
  const RnnSizes& s = p.sizes;
  runtime::launch(state_of(p.dinput), kernel, range, in(weight), in(defined_or(p.saved.gates, p.dinput)),
                  in(defined_or(p.saved.cells, p.saved.states)), in(defined_or(p.dy, p.dinput)), out(p.dh),
                  out(defined_or(p.dc, p.dh)), out(p.dinput), out(p.drecurrent), in(defined_or(p.lengths, p.dinput)),
                  static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch),
                  static_cast<std::int32_t>(s.hidden), flags_of(p));
}

const char* refuse_rnn_forward_group(const RnnForward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.projected.defined(), info);
}

void run_rnn_forward_group(const RnnForward& p) {
  const RnnSizes& s = p.sizes;
  runtime::Kernel& kernel = kernel_of(state_of(p.gates), s.cell, "rnn_group_forward");
  launch_rnn_forward(p, kernel, groups_of(s), packed(s, p.weight_hh, {2, 1, 0}));
}

const char* refuse_rnn_backward_group(const RnnBackward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.dprojected.defined(), info);
}

void run_rnn_backward_group(const RnnBackward& p) {
  const RnnSizes& s = p.sizes;
  runtime::Kernel& kernel = kernel_of(state_of(p.dinput), s.cell, "rnn_group_backward");
  launch_rnn_backward(p, kernel, groups_of(s), packed(s, p.weight_hh, {1, 2, 0}));
}

}  // namespace crisol::ops
