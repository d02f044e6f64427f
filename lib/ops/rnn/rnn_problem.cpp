#include "ops/rnn/rnn_problem.h"

#include "ops/product/gemm.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

const RnnKind& kind_of(RnnCell cell) noexcept {
  static constexpr RnnKind kinds[] = {{"RNN_TANH", 1, 1, false, false},
                                      {"RNN_RELU", 1, 1, false, false},
                                      {"LSTM", 4, 4, true, true},
                                      {"GRU", 3, 4, false, true}};
  return kinds[static_cast<std::size_t>(cell)];
}

std::int32_t flags_of(const RnnForward& p) noexcept {
  return (p.lengths.defined() ? with_lengths : 0) | (p.bias_hh.defined() ? with_bias : 0) | (p.save ? keep : 0) |
         (p.projected.defined() ? projects : 0) | (p.sizes.reverse ? in_reverse : 0);
}

std::int32_t flags_of(const RnnBackward& p) noexcept {
  return (p.lengths.defined() ? with_lengths : 0) | (p.dprojected.defined() ? projects : 0) |
         (p.dy.defined() ? with_dy : 0) | (p.sizes.reverse ? in_reverse : 0);
}

runtime::Kernel& rnn_kernel(runtime::DeviceState& device, RnnCell cell, const char* source, const char* entry,
                            runtime::Defines defines) {
  const RnnKind& kind = kind_of(cell);
  defines.add({"CELL", kind.name});
  defines.add({"GATES", kind.gates});
  defines.add({"SAVED", kind.saved});
  if (!runtime::info_of(device).fast_fma) defines.add({"NO_FMA", 1});
  return runtime::resolve(device, {source, entry, defines});
}

void multiply_input(const RnnForward& p) {
  const RnnSizes& s = p.sizes;
  Gemm product{state_of(p.x),
               s.steps * s.batch,
               s.gate_rows(),
               s.inputs,
               1,
               {in(p.x), s.inputs, 1},
               Matrix{in(p.weight_ih), s.inputs, 1}.transposed(),
               {out(p.gates), s.saved_columns(), 1}};
  if (p.bias_ih.defined()) {
    product.flags = bias_per_column;
    product.bias = in(p.bias_ih);
  }
  gemm(product);
}

}  // namespace crisol::ops
