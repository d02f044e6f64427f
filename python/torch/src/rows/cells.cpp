// Steps of LSTM and GRU. Their formulas are those of crisol/options/rnn.h.
#include "call.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::Tensor;

// Gate number `gate` of (B, gates · H).
Tensor gate_of(const Tensor& gates, std::int64_t gate, std::int64_t hidden) {
  return ops::narrow(gates, 1, gate * hidden, hidden);
}

Tensor sum_of(const Tensor& a, const Tensor& b) { return b.defined() ? ops::add(a, b) : a; }

Tensor new_gates(const Tensor& like, std::int64_t gates) {
  return crisol::empty({like.size(0), gates * like.size(1)}, like.dtype(), like.device());
}

c10::IValue bias_gradient(const Tensor& gates, bool wanted) {
  return wanted ? c10::IValue(wrap(ops::sum(gates, 0))) : c10::IValue(at::Tensor());
}

// (input gates, hidden gates, c, input bias, hidden bias) → (h', c', activated gates)
Results lstm_cell(const Call& c) {
  const Tensor cell = c.tensor(2);
  const std::int64_t hidden = cell.size(1);
  const Tensor sums = sum_of(sum_of(ops::add(c.tensor(0), c.tensor(1)), c.tensor(3)), c.tensor(4));
  const Tensor gates = new_gates(cell, 4);
  ops::sigmoid_into(ops::narrow(gates, 1, 0, 2 * hidden), ops::narrow(sums, 1, 0, 2 * hidden));
  ops::tanh_into(gate_of(gates, 2, hidden), gate_of(sums, 2, hidden));
  ops::sigmoid_into(gate_of(gates, 3, hidden), gate_of(sums, 3, hidden));
  const Tensor next =
      ops::addcmul(ops::mul(gate_of(gates, 1, hidden), cell), gate_of(gates, 0, hidden), gate_of(gates, 2, hidden), 1);
  const Tensor state = ops::mul(gate_of(gates, 3, hidden), ops::tanh(next));
  return {wrap(state), wrap(next), wrap(gates)};
}

// (dh', dc', c, c', activated gates, has bias) → (gradient of the gates, dc, gradient of the bias)
Results lstm_cell_backward(const Call& c) {
  const Tensor dh = c.tensor(0), cell = c.tensor(2), gates = c.tensor(4);
  const std::int64_t hidden = cell.size(1);
  const auto gate = [&](std::int64_t k) { return gate_of(gates, k, hidden); };
  const Tensor result = new_gates(cell, 4);
  const auto into = [&](std::int64_t k) { return gate_of(result, k, hidden); };
  Tensor dc = c.tensor(1);
  if (dh.defined()) {
    const Tensor output = ops::tanh(c.tensor(3));
    ops::sigmoid_backward_into(into(3), ops::mul(dh, output), gate(3));
    dc = sum_of(ops::tanh_backward(ops::mul(dh, gate(3)), output), dc);
  } else {
    ops::fill_into(into(3), 0);
  }
  need(dc.defined(), "an LSTM cell without gradients");
  ops::sigmoid_backward_into(into(0), ops::mul(dc, gate(2)), gate(0));
  ops::sigmoid_backward_into(into(1), ops::mul(dc, cell), gate(1));
  ops::tanh_backward_into(into(2), ops::mul(dc, gate(0)), gate(2));
  return {wrap(result), wrap(ops::mul(dc, gate(1))), bias_gradient(result, c.flag(5))};
}

// (input gates, hidden gates, h, input bias, hidden bias) → (h', workspace). The workspace (B, 5 H) has r, z, n, h, and
// the hidden part of n.
Results gru_cell(const Call& c) {
  const Tensor state = c.tensor(2);
  const std::int64_t hidden = state.size(1);
  const Tensor input = sum_of(c.tensor(0), c.tensor(3)), from_state = sum_of(c.tensor(1), c.tensor(4));
  const Tensor workspace = new_gates(state, 5);
  const auto part = [&](std::int64_t k) { return gate_of(workspace, k, hidden); };
  const Tensor both = ops::narrow(workspace, 1, 0, 2 * hidden);
  ops::sigmoid_into(both, ops::add(ops::narrow(input, 1, 0, 2 * hidden), ops::narrow(from_state, 1, 0, 2 * hidden)));
  ops::copy_into(part(3), state);
  ops::copy_into(part(4), gate_of(from_state, 2, hidden));
  ops::tanh_into(part(2), ops::addcmul(gate_of(input, 2, hidden), part(0), part(4), 1));
  const Tensor next = ops::addcmul(part(2), part(1), ops::sub(state, part(2)), 1);
  return {wrap(next), wrap(workspace)};
}

// (dh', workspace, has bias) → gradients of the input gates, the hidden gates, h and both biases
Results gru_cell_backward(const Call& c) {
  const Tensor dh = c.tensor(0), workspace = c.tensor(1);
  const std::int64_t hidden = dh.size(1);
  const auto part = [&](std::int64_t k) { return gate_of(workspace, k, hidden); };
  const Tensor input = new_gates(dh, 3);
  const auto into = [&](std::int64_t k) { return gate_of(input, k, hidden); };
  const Tensor to_state = ops::mul(dh, part(1));
  ops::tanh_backward_into(into(2), ops::sub(dh, to_state), part(2));
  ops::sigmoid_backward_into(into(1), ops::mul(dh, ops::sub(part(3), part(2))), part(1));
  ops::sigmoid_backward_into(into(0), ops::mul(into(2), part(4)), part(0));
  const Tensor from_state = ops::clone(input);
  ops::mul_into(gate_of(from_state, 2, hidden), into(2), part(0));
  const bool bias = c.flag(2);
  return {wrap(input), wrap(from_state), wrap(to_state), bias_gradient(input, bias), bias_gradient(from_state, bias)};
}

}  // namespace

Rows cell_rows() {
  return {
      {"_thnn_fused_lstm_cell", lstm_cell},
      {"_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward},
      {"_thnn_fused_gru_cell", gru_cell},
      {"_thnn_fused_gru_cell_backward", gru_cell_backward},
  };
}

}  // namespace crisol_torch
