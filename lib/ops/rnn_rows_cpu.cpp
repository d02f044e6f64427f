// A recurrent layer on CPUs in one launch: rnn_rows_cpu.cl.
#include <limits>

#include "ops/gemm.h"
#include "ops/persistent.h"
#include "ops/rnn_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

// As in rnn_rows_cpu.cl.
enum Flag : std::int32_t { with_lengths = 1, with_bias = 2, keep = 4, with_dy = 16, in_reverse = 32 };

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// One work-item for each compute unit, but at least a few rows for each: they share the reading of the weights.
runtime::NdRange rows_range(const RnnSizes& s, const DeviceInfo& info) {
  constexpr std::int64_t least_rows = 4;
  const std::int64_t items = std::min<std::int64_t>(info.compute_units, ceil_div(s.batch, least_rows));
  return {{items == 1 ? 1 : items + 1}, {1}};  // Item 0 of several is idle: see rows_of_item.
}

runtime::Kernel& kernel_of(runtime::DeviceState& device, RnnCell cell, const char* entry) {
  runtime::KernelSpec spec{"rnn_rows_cpu.cl", entry, {{"VW", cpu_vector_width(device)}}};
  add_cell_defines(spec.defines, cell);
  if (!runtime::info_of(device).fast_fma) spec.defines.add({"NO_FMA", 1});
  return runtime::resolve(device, spec);
}

const Tensor& either(const Tensor& wanted, const Tensor& other) { return wanted.defined() ? wanted : other; }

runtime::BlockPtr allocate_packed(runtime::DeviceState& device, const RnnSizes& s) {
  const std::int64_t width = cpu_vector_width(device);
  return runtime::allocate(device, 4 * s.kind().gates * s.hidden * ceil_div(s.hidden, width) * width);
}

void launch_pack(runtime::DeviceState& device, runtime::Kernel& kernel, const RnnSizes& s, const Tensor& weight,
                 const runtime::BufferView& packed) {
  const std::int64_t units = s.kind().gates * ceil_div(s.hidden, cpu_vector_width(device));
  runtime::launch(device, kernel, persistent_range(device, units, 20 * s.hidden), in(weight), packed,
                  static_cast<std::int32_t>(s.hidden));
}

const char* refuse(const RnnSizes& s, bool projected, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  if (projected) return "the output is projected";
  if (std::max({s.steps, s.batch, s.gate_rows()}) > std::numeric_limits<std::int32_t>::max() / 4)
    return "sizes beyond the kernel's int indices";
  const std::int64_t rounds = s.steps * s.batch * s.gate_rows() * (s.hidden + 32);
  return rounds / 4 <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

}  // namespace

const char* refuse_rnn_forward_rows(const RnnForward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.projected.defined(), info);
}

void run_rnn_forward_rows(const RnnForward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.gates);
  runtime::Kernel& pack = kernel_of(device, s.cell, "rnn_pack_forward");
  runtime::Kernel& steps = kernel_of(device, s.cell, "rnn_rows_forward");
  const runtime::BlockPtr packed = allocate_packed(device, s);
  const runtime::BufferView weights{packed.get(), 0};
  const std::int32_t flags = (p.lengths.defined() ? with_lengths : 0) | (p.bias_hh.defined() ? with_bias : 0) |
                             (p.save ? keep : 0) | (s.reverse ? in_reverse : 0);
  launch_pack(device, pack, s, p.weight_hh, weights);
  runtime::launch(device, steps, rows_range(s, runtime::info_of(device)), weights, in(either(p.bias_hh, p.gates)),
                  out(p.gates), out(p.states), out(either(p.cells, p.states)), in(either(p.lengths, p.gates)),
                  static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch),
                  static_cast<std::int32_t>(s.hidden), p.save ? s.batch * s.hidden : std::int64_t{0}, flags);
}

const char* refuse_rnn_backward_rows(const RnnBackward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.dprojected.defined(), info);
}

void run_rnn_backward_rows(const RnnBackward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.dinput);
  runtime::Kernel& pack = kernel_of(device, s.cell, "rnn_pack_backward");
  runtime::Kernel& steps = kernel_of(device, s.cell, "rnn_rows_backward");
  const runtime::BlockPtr packed = allocate_packed(device, s);
  const runtime::BufferView weights{packed.get(), 0};
  const std::int32_t flags =
      (p.lengths.defined() ? with_lengths : 0) | (p.dy.defined() ? with_dy : 0) | (s.reverse ? in_reverse : 0);
  const Tensor& states = either(p.saved.cells, p.saved.states);
  launch_pack(device, pack, s, p.weight_hh, weights);
  runtime::launch(device, steps, rows_range(s, runtime::info_of(device)), weights, in(either(p.saved.gates, p.dinput)),
                  in(states), in(either(p.dy, p.dinput)), out(p.dh), out(either(p.dc, p.dh)), out(p.dinput),
                  out(p.drecurrent), in(either(p.lengths, p.dinput)), static_cast<std::int32_t>(s.steps),
                  static_cast<std::int32_t>(s.batch), static_cast<std::int32_t>(s.hidden), flags);
}

}  // namespace crisol::ops
