#include "functions/rnn/composed_rnn.h"

#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"

namespace crisol {

namespace {

/// The parameters of a layer by name.
struct Weights {
  const Tensor &ih, &hh, &bias_ih, &bias_hh, &hr;
};

struct State {
  Tensor h, c;
};

/// One step of all sequences.
State step(const Tensor& x, const State& before, const Weights& w, RnnCell cell) {
  const Tensor u = linear(x, w.ih, w.bias_ih), v = linear(before.h, w.hh, w.bias_hh);
  const std::int64_t hidden = w.hh.size(0) / gates_of(cell);
  const auto gate = [hidden](const Tensor& all, std::int64_t number) { return all.narrow(1, number * hidden, hidden); };
  if (cell == RnnCell::tanh) return {tanh(u + v), {}};
  if (cell == RnnCell::relu) return {relu(u + v), {}};
  if (cell == RnnCell::gru) {
    const Tensor r = sigmoid(gate(u, 0) + gate(v, 0)), z = sigmoid(gate(u, 1) + gate(v, 1));
    const Tensor n = tanh(gate(u, 2) + r * gate(v, 2));
    return {(1 - z) * n + z * before.h, {}};
  }
  const Tensor a = u + v;
  const Tensor c = sigmoid(gate(a, 1)) * before.c + sigmoid(gate(a, 0)) * tanh(gate(a, 2));
  const Tensor h = sigmoid(gate(a, 3)) * tanh(c);
  return {w.hr.defined() ? linear(h, w.hr) : h, c};
}

}  // namespace

std::vector<Tensor> composed_rnn(const std::vector<Tensor>& in, const Tensor& lengths, const RnnOptions& options) {
  const Tensor& x = in[0];
  const Weights w{in[3], in[4], in[5], in[6], in[7]};
  const bool is_lstm = options.cell == RnnCell::lstm;
  const std::int64_t steps = x.size(0), batch = x.size(1), hidden = w.hh.size(0) / gates_of(options.cell);
  const auto state = [&](const Tensor& given, std::int64_t size) {
    return given.defined() ? given : zeros({batch, size}, x.dtype(), x.device());
  };
  State now{state(in[1], w.hh.size(1)), is_lstm ? state(in[2], hidden) : Tensor()};
  std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = options.reverse ? steps - 1 - i : i;
    State next = step(x.select(0, t), now, w, options.cell);
    Tensor& y = outputs[static_cast<std::size_t>(t)];
    y = next.h;
    if (lengths.defined()) {
      // After its end, a sequence keeps its state and gives 0.
      const Tensor runs = gt(lengths, t).unsqueeze(1);
      y = where(runs, next.h, 0);
      next.h = where(runs, next.h, now.h);
      if (is_lstm) next.c = where(runs, next.c, now.c);
    }
    now = next;
  }
  const Tensor y = steps > 0 ? stack(outputs, 0) : zeros({0, batch, w.hh.size(1)}, x.dtype(), x.device());
  std::vector<Tensor> results{y, now.h};
  if (is_lstm) results.push_back(now.c);
  return results;
}

}  // namespace crisol
