// A recurrent layer on CPUs in one launch: rnn_forward_cpu.cl, rnn_backward_cpu.cl.
#include <limits>

#include "base/ceil_div.h"
#include "dispatch/persistent.h"
#include "ops/product/gemm.h"
#include "ops/rnn/rnn_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

runtime::Kernel& forward_kernel(runtime::DeviceState& device, RnnCell cell, const char* entry) {
  return rnn_kernel(device, cell, "rnn/rnn_forward_cpu.cl", entry, {{"VW", cpu_vector_width(device)}});
}

runtime::Kernel& backward_kernel(runtime::DeviceState& device, RnnCell cell, const char* entry) {
  return rnn_kernel(device, cell, "rnn/rnn_backward_cpu.cl", entry, {{"VW", cpu_vector_width(device)}});
}

// One work-item for each compute unit, but at least a few rows for each: they share the reading of the weights.
runtime::NdRange rows_range(const RnnSizes& s, const DeviceInfo& info) {
  constexpr std::int64_t least_rows = 4;
  return {{std::min<std::int64_t>(info.compute_units, ceil_div(s.batch, least_rows))}, {1}};
}

std::int64_t blocks_of(runtime::DeviceState& device, const RnnSizes& s) {
  return ceil_div(s.hidden, cpu_vector_width(device));
}

// A weight in the layout of one of the packing kernels. The copy is kept with a weight that is used again unchanged.
template <class... Sizes>
runtime::BlockPtr packed(runtime::Kernel& kernel, const char* kind, const RnnSizes& s, const Tensor& weight,
                         const Sizes&... sizes) {
  runtime::DeviceState& device = state_of(weight);
  Storage& owner = *weight.impl()->storage;
  const std::int64_t depth = weight.size(1), units = s.kind().gates * blocks_of(device, s);
  const DerivedKey key{kind, {weight.offset(), s.hidden, depth, static_cast<std::int64_t>(s.cell)}};
  const std::uint64_t version = owner.version.load(std::memory_order_relaxed);
  const DerivedData::Found found = owner.find_derived(key, version);
  if (found.data) return std::static_pointer_cast<runtime::Block>(found.data);
  const std::int64_t floats = units * cpu_vector_width(device) * depth;
  runtime::BlockPtr block = runtime::allocate(device, 4 * static_cast<std::uint64_t>(floats));
  runtime::launch(device, kernel, persistent_range(device, units, 20 * depth), in(weight),
                  runtime::BufferView{block.get(), 0}, static_cast<std::int32_t>(s.hidden), sizes...);
  if (!found.worth_keeping) return block;
  return std::static_pointer_cast<runtime::Block>(owner.derived.keep(key, version, block));
}

runtime::BlockPtr packed_forward(runtime::Kernel& kernel, const RnnSizes& s, const Tensor& weight) {
  static constexpr char kind[] = "rnn_pack_forward";
  return packed(kernel, kind, s, weight, static_cast<std::int32_t>(weight.size(1)));
}

runtime::BlockPtr packed_backward(runtime::Kernel& kernel, const RnnSizes& s, const Tensor& weight) {
  static constexpr char kind[] = "rnn_pack_backward";
  return packed(kernel, kind, s, weight);
}

// Whether the step kernel also multiplies the input, which saves writing and reading the products: where several rows
// share the reading of both weights, and these do not crowd the L2 cache, or where there are few steps.
bool multiplies_input(const RnnSizes& s) {
  constexpr std::int64_t most_bytes = 2 << 20, least_batch = 8, few_steps = 4;
  if (s.steps <= few_steps) return true;
  return s.batch >= least_batch && 4 * s.gate_rows() * (s.inputs + s.hidden) <= most_bytes;
}

const char* refuse(const RnnSizes& s, bool projected, const DeviceInfo& info) {
  if (!takes_cpu_kernels(info)) return "made for CPUs";
  if (projected) return "the output is projected";
  if (std::max({s.steps, s.batch, s.inputs, s.gate_rows()}) > std::numeric_limits<std::int32_t>::max() / 4)
    return "sizes beyond the kernel's int indices";
  const std::int64_t rounds = s.steps * s.batch * s.gate_rows() * (s.inputs + s.hidden + 32);
  return rounds / 4 <= loop_budget(info) ? nullptr : "the device does not run loops of that length";
}

}  // namespace

const char* refuse_rnn_forward_rows(const RnnForward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.projected.defined(), info);
}

void run_rnn_forward_rows(const RnnForward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.gates);
  runtime::Kernel& pack = forward_kernel(device, s.cell, "rnn_pack_forward");
  runtime::Kernel& steps = forward_kernel(device, s.cell, "rnn_rows_forward");
  const bool fused = multiplies_input(s);
  const runtime::BlockPtr weight_hh = packed_forward(pack, s, p.weight_hh);
  const runtime::BlockPtr weight_ih = fused ? packed_forward(pack, s, p.weight_ih) : weight_hh;
  if (!fused) multiply_input(p);
  const std::int32_t flags = flags_of(p) | (fused ? with_input : 0);
  runtime::launch(
      device, steps, rows_range(s, runtime::info_of(device)), in(p.x), runtime::BufferView{weight_ih.get(), 0},
      in(defined_or(p.bias_ih, p.x)), runtime::BufferView{weight_hh.get(), 0}, in(defined_or(p.bias_hh, p.x)),
      out(p.gates), out(p.states), out(defined_or(p.cells, p.states)), in(defined_or(p.lengths, p.x)),
      static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch), static_cast<std::int32_t>(s.inputs),
      static_cast<std::int32_t>(s.hidden), p.save ? s.batch * s.hidden : std::int64_t{0}, flags);
}

const char* refuse_rnn_backward_rows(const RnnBackward& p, const DeviceInfo& info) {
  return refuse(p.sizes, p.dprojected.defined(), info);
}

void run_rnn_backward_rows(const RnnBackward& p) {
  const RnnSizes& s = p.sizes;
  runtime::DeviceState& device = state_of(p.dinput);
  runtime::Kernel& pack = backward_kernel(device, s.cell, "rnn_pack_backward");
  runtime::Kernel& steps = backward_kernel(device, s.cell, "rnn_rows_backward");
  const runtime::BlockPtr weight_hh = packed_backward(pack, s, p.weight_hh);
  const Tensor& states = defined_or(p.saved.cells, p.saved.states);
  runtime::launch(device, steps, rows_range(s, runtime::info_of(device)), runtime::BufferView{weight_hh.get(), 0},
                  in(defined_or(p.saved.gates, p.dinput)), in(states), in(defined_or(p.dy, p.dinput)), out(p.dh),
                  out(defined_or(p.dc, p.dh)), out(p.dinput), out(p.drecurrent), in(defined_or(p.lengths, p.dinput)),
                  static_cast<std::int32_t>(s.steps), static_cast<std::int32_t>(s.batch),
                  static_cast<std::int32_t>(s.hidden), flags_of(p));
}

}  // namespace crisol::ops
