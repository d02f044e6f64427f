#include "crisol/nn/rnn_cell.h"

#include "base/text.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/rnn.h"
#include "crisol/nn/module_list.h"
#include "nn/rnn_weights.h"

namespace crisol::nn {

namespace {

Tensor detached(const Tensor& x) { return x.defined() ? x.detach() : x; }

std::vector<Tensor> detached(const std::vector<Tensor>& all) {
  std::vector<Tensor> result;
  for (const Tensor& x : all) result.push_back(detached(x));
  return result;
}

}  // namespace

LSTMState LSTMState::detach() const { return {detached(h), detached(c)}; }

StackedLSTM::States StackedLSTM::States::detach() const { return {detached(h), detached(c)}; }

RecurrentCell::RecurrentCell(const char* name, RnnCell cell, std::int64_t input_size, std::int64_t hidden_size,
                             const RecurrentCellOptions& options)
    : name_(name), cell_(cell) {
  require(input_size > 0 && hidden_size > 0, name, "input_size ", input_size, " and hidden_size ", hidden_size,
          " must be positive");
  const RnnWeights w = make_rnn_weights(cell, input_size, hidden_size, options.bias, 0);
  weight_ih = w.weight_ih;
  weight_hh = w.weight_hh;
  if (options.bias) {
    bias_ih = w.bias_ih;
    bias_hh = w.bias_hh;
  }
  register_parameter("weight_ih", weight_ih);
  register_parameter("weight_hh", weight_hh);
  register_parameter("bias_ih", bias_ih);
  register_parameter("bias_hh", bias_hh);
}

std::string RecurrentCell::extra_repr() const {
  std::string text = concat(weight_ih.size(1), ", ", weight_hh.size(1));
  if (!bias_ih.defined()) text += ", bias=false";
  if (cell_ == RnnCell::relu) text += ", nonlinearity=relu";
  return text;
}

LSTMState RecurrentCell::step(const Tensor& x, const LSTMState& state) const {
  require(x.dim() == 2 && x.size(1) == weight_ih.size(1), name_, "x must have shape (batch, ", weight_ih.size(1),
          "), it has ", x.shape());
  const Shape expected{x.size(0), weight_hh.size(1)};
  require(!state.h.defined() || state.h.shape() == expected, name_, "h must have shape ", expected, ", it has ",
          state.h.defined() ? state.h.shape() : Shape());
  require(!state.c.defined() || state.c.shape() == expected, name_, "c must have shape ", expected, ", it has ",
          state.c.defined() ? state.c.shape() : Shape());
  const RnnOutput out =
      rnn({x.unsqueeze(0), state.h, state.c, Tensor()}, {weight_ih, weight_hh, bias_ih, bias_hh, Tensor()}, {cell_});
  return {out.h_n, out.c_n};
}

RNNCell::RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
    : RecurrentCell("RNNCell", cell_of(options.nonlinearity), input_size, hidden_size, options) {}

Tensor RNNCell::forward(const Tensor& x, const Tensor& h) { return step(x, {h, Tensor()}).h; }

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) {
  return call_with_hooks(x, [&](const Tensor& input) { return forward(input, h); });
}

LSTMCell::LSTMCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
    : RecurrentCell("LSTMCell", RnnCell::lstm, input_size, hidden_size, options) {}

LSTMState LSTMCell::forward(const Tensor& x, const LSTMState& state) { return step(x, state); }

LSTMState LSTMCell::operator()(const Tensor& x, const LSTMState& state) {
  return call_with_hooks(
      x, [&](const Tensor& input) { return forward(input, state); }, &LSTMState::h);
}

GRUCell::GRUCell(std::int64_t input_size, std::int64_t hidden_size, const RecurrentCellOptions& options)
    : RecurrentCell("GRUCell", RnnCell::gru, input_size, hidden_size, options) {}

Tensor GRUCell::forward(const Tensor& x, const Tensor& h) { return step(x, {h, Tensor()}).h; }

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) {
  return call_with_hooks(x, [&](const Tensor& input) { return forward(input, h); });
}

StackedLSTM::StackedLSTM(std::int64_t input_size, std::int64_t hidden_size, const StackedLSTMOptions& options)
    : dropout_(options.dropout) {
  const int num_layers = options.num_layers;
  require(num_layers > 0, "StackedLSTM", "num_layers must be positive, it is ", num_layers);
  require(dropout_ >= 0 && dropout_ <= 1, "StackedLSTM", "dropout ", dropout_, " is not in [0, 1]");
  ModuleList layers;
  for (int i = 0; i < num_layers; ++i)
    layers.append(cells_.emplace_back(i == 0 ? input_size : hidden_size, hidden_size));
  register_module("layers", layers);
}

std::string StackedLSTM::extra_repr() const { return concat("dropout=", dropout_); }

StackedLSTM::Output StackedLSTM::forward(const Tensor& x, const States& states) {
  const std::size_t layers = cells_.size();
  require(states.h.empty() || states.h.size() == layers, "StackedLSTM", "there are ", states.h.size(),
          " hidden states (h) for ", layers, " layers");
  require(states.c.empty() || states.c.size() == layers, "StackedLSTM", "there are ", states.c.size(),
          " cell states (c) for ", layers, " layers");
  Output result;
  Tensor input = x;
  for (std::size_t i = 0; i < layers; ++i) {
    const LSTMState before{states.h.empty() ? Tensor() : states.h[i], states.c.empty() ? Tensor() : states.c[i]};
    const LSTMState after = cells_[i](input, before);
    input = dropout(after.h, dropout_, training());
    result.outputs.push_back(input);
    result.states.h.push_back(after.h);
    result.states.c.push_back(after.c);
  }
  return result;
}

StackedLSTM::Output StackedLSTM::operator()(const Tensor& x, const States& states) {
  const auto last = [](Output& result) -> Tensor& { return result.outputs.back(); };
  return call_with_hooks(
      x, [&](const Tensor& input) { return forward(input, states); }, last);
}

}  // namespace crisol::nn
