#include "crisol/nn/rnn.h"

#include "base/text.h"
#include "crisol/autocast.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/rnn.h"
#include "nn/repr.h"
#include "nn/rnn_weights.h"

namespace crisol::nn {

SequenceLengths::SequenceLengths(std::vector<std::int64_t> values) : given_(true), values_(std::move(values)) {}

SequenceLengths::SequenceLengths(const Tensor& values) : given_(values.defined()) {
  if (!given_) return;
  require(values.dim() == 1 && holds_counts(values.dtype()), "SequenceLengths", "lengths must be a vector of ",
          TypesThat{holds_counts}, ", they are ", values.dtype(), " of shape ", values.shape());
  values_ = values.to(DType::i64).to_vector<std::int64_t>();
}

RecurrentNetwork::RecurrentNetwork(const char* name, RnnCell cell, std::int64_t input_size, std::int64_t hidden_size,
                                   const RecurrentOptions& options)
    : name_(name), cell_(cell), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  require(input_size > 0 && hidden_size > 0, name, "input_size ", input_size, " and hidden_size ", hidden_size,
          " must be positive");
  require(options.num_layers > 0, name, "num_layers must be positive, it is ", options.num_layers);
  require(options.dropout >= 0 && options.dropout <= 1, name, "dropout ", options.dropout, " is not in [0, 1]");
  require(options.proj_size >= 0 && options.proj_size < hidden_size, name, "proj_size ", options.proj_size,
          " must be at least 0 and below hidden_size ", hidden_size);
  require(options.proj_size == 0 || cell == RnnCell::lstm, name, "proj_size ", options.proj_size,
          " is given, only LSTM takes one");
  for (int layer = 0; layer < options.num_layers; ++layer) {
    add_layer(layer, false);
    if (options.bidirectional) add_layer(layer, true);
  }
}

void RecurrentNetwork::add_layer(int layer, bool reverse) {
  const std::int64_t outputs = options_.proj_size > 0 ? options_.proj_size : hidden_size_;
  const std::int64_t inputs = layer == 0 ? input_size_ : outputs * (options_.bidirectional ? 2 : 1);
  const RnnWeights made = make_rnn_weights(cell_, inputs, hidden_size_, options_.bias, options_.proj_size);
  const std::string suffix = "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
  RnnParameters& own =
      weights_.emplace_back(RnnParameters{Parameter(made.weight_ih), Parameter(made.weight_hh), Parameter(made.bias_ih),
                                          Parameter(made.bias_hh), Parameter(made.weight_hr)});
  register_parameter("weight_ih" + suffix, own.weight_ih);
  register_parameter("weight_hh" + suffix, own.weight_hh);
  register_parameter("bias_ih" + suffix, own.bias_ih);
  register_parameter("bias_hh" + suffix, own.bias_hh);
  register_parameter("weight_hr" + suffix, own.weight_hr);
}

RnnParameters RecurrentNetwork::weights(int layer, bool reverse) const {
  require(layer >= 0 && layer < options_.num_layers, name_, "there is no layer ", layer, " of ", options_.num_layers);
  require(!reverse || options_.bidirectional, name_, "there is no reverse direction");
  return weights_[static_cast<std::size_t>(layer * (options_.bidirectional ? 2 : 1) + (reverse ? 1 : 0))];
}

std::string RecurrentNetwork::extra_repr() const {
  std::string text = concat(input_size_, ", ", hidden_size_);
  if (options_.proj_size != 0) text += concat(", proj_size=", options_.proj_size);
  if (options_.num_layers != 1) text += concat(", num_layers=", options_.num_layers);
  if (!options_.bias) text += ", bias=false";
  if (options_.batch_first) text += ", batch_first=true";
  if (options_.dropout != 0) text += concat(", dropout=", decimal(options_.dropout));
  if (options_.bidirectional) text += ", bidirectional=true";
  return text;
}

void RecurrentNetwork::check_state(const char* what, const Tensor& state, const Tensor& x, std::int64_t units) const {
  if (!state.defined()) return;
  const Shape expected{static_cast<std::int64_t>(weights_.size()), x.size(options_.batch_first ? 0 : 1), units};
  require(state.shape() == expected, name_, what, " must have shape ", expected, " for x of shape ", x.shape(),
          ", it has ", state.shape());
  // Autocast converts both.
  require(state.dtype() == x.dtype() || autocast_enabled(), name_, what, " must be ", x.dtype(), ", it is ",
          state.dtype());
  require(state.device() == x.device(), name_, "x is on ", x.device(), ", ", what, " on ", state.device());
}

void RecurrentNetwork::check(const Tensor& x, const Tensor& h0, const Tensor& c0,
                             const SequenceLengths& lengths) const {
  const char* axes = options_.batch_first ? "(batch, steps, " : "(steps, batch, ";
  require(x.dim() == 3 && x.size(2) == input_size_, name_, "x must have shape ", axes, input_size_, "), it has ",
          x.shape());
  check_state("h0", h0, x, options_.proj_size > 0 ? options_.proj_size : hidden_size_);
  check_state("c0", c0, x, hidden_size_);
  if (!lengths.given()) return;
  const std::int64_t steps = x.size(options_.batch_first ? 1 : 0), batch = x.size(options_.batch_first ? 0 : 1);
  const std::vector<std::int64_t>& values = lengths.values();
  require(static_cast<std::int64_t>(values.size()) == batch, name_, "there are ", values.size(), " lengths for ", batch,
          " sequences");
  for (std::size_t i = 0; i < values.size(); ++i)
    require(values[i] >= 1 && values[i] <= steps, name_, "lengths[", i, "] is ", values[i],
            ", it must be at least 1 and at most the ", steps, " steps of x");
}

RecurrentNetwork::Sequences RecurrentNetwork::run(const Tensor& x, const Tensor& h0, const Tensor& c0,
                                                  const SequenceLengths& lengths) const {
  check(x, h0, c0, lengths);
  const int directions = options_.bidirectional ? 2 : 1;
  const auto part = [](const Tensor& states, int index) { return states.defined() ? states.select(0, index) : states; };
  RnnInput input;
  if (lengths.given()) input.lengths = from_vector(lengths.values(), x.device());
  Tensor y = options_.batch_first ? x.transpose(0, 1) : x;
  std::vector<Tensor> h_n, c_n;
  for (int layer = 0; layer < options_.num_layers; ++layer) {
    if (layer > 0) y = dropout(y, options_.dropout, training() && options_.dropout > 0);
    std::vector<Tensor> outputs;
    input.x = y;
    for (int direction = 0; direction < directions; ++direction) {
      const int index = layer * directions + direction;
      input.h0 = part(h0, index);
      input.c0 = part(c0, index);
      const RnnOutput out = rnn(input, weights(layer, direction == 1), {cell_, direction == 1});
      outputs.push_back(out.y);
      h_n.push_back(out.h_n);
      if (out.c_n.defined()) c_n.push_back(out.c_n);
    }
    y = directions == 1 ? outputs[0] : cat(outputs, 2);
  }
  return {options_.batch_first ? y.transpose(0, 1) : y, stack(h_n), c_n.empty() ? Tensor() : stack(c_n)};
}

RNN::RNN(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : RecurrentNetwork("RNN", cell_of(options.nonlinearity), input_size, hidden_size, options) {}

RNNOutput RNN::forward(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths) {
  const Sequences result = run(x, h0, Tensor(), lengths);
  return {result.output, result.h_n};
}

RNNOutput RNN::operator()(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths) {
  return call_with_hooks(
      x, [&](const Tensor& input) { return forward(input, h0, lengths); }, &RNNOutput::output);
}

LSTM::LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : RecurrentNetwork("LSTM", RnnCell::lstm, input_size, hidden_size, options) {}

LSTMOutput LSTM::forward(const Tensor& x, const LSTMState& initial, const SequenceLengths& lengths) {
  const Sequences result = run(x, initial.h, initial.c, lengths);
  return {result.output, {result.h_n, result.c_n}};
}

LSTMOutput LSTM::operator()(const Tensor& x, const LSTMState& initial, const SequenceLengths& lengths) {
  return call_with_hooks(
      x, [&](const Tensor& input) { return forward(input, initial, lengths); }, &LSTMOutput::output);
}

GRU::GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options)
    : RecurrentNetwork("GRU", RnnCell::gru, input_size, hidden_size, options) {}

RNNOutput GRU::forward(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths) {
  const Sequences result = run(x, h0, Tensor(), lengths);
  return {result.output, result.h_n};
}

RNNOutput GRU::operator()(const Tensor& x, const Tensor& h0, const SequenceLengths& lengths) {
  return call_with_hooks(
      x, [&](const Tensor& input) { return forward(input, h0, lengths); }, &RNNOutput::output);
}

}  // namespace crisol::nn
