// Recurrent cells: names, agreement with the networks, the stack of LSTM cells, errors.
#include "crisol/nn/rnn_cell.h"

#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/functions/cat.h"
#include "crisol/nn/rnn.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr std::int64_t steps = 4, batch = 3, inputs = 2, hidden = 5;
// The products of one step and of several steps at once may be added in different orders.
const Tolerance rounding{16, 1};

std::vector<std::string> names_of(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : module.state_dict()) names.push_back(name);
  return names;
}

void load_layer(nn::Module& cell, const RnnWeights& w) {
  cell.load_state_dict(
      {{"weight_ih", w.weight_ih}, {"weight_hh", w.weight_hh}, {"bias_ih", w.bias_ih}, {"bias_hh", w.bias_hh}});
}

void check_same_gradients(const nn::RecurrentCell& cell, const RnnWeights& w) {
  check_close(cell.weight_ih.grad(), values_of(w.weight_ih.grad()), {64});
  check_close(cell.weight_hh.grad(), values_of(w.weight_hh.grad()), {64});
  check_close(cell.bias_ih.grad(), values_of(w.bias_ih.grad()), {64});
  check_close(cell.bias_hh.grad(), values_of(w.bias_hh.grad()), {64});
}

// Checks that the cell, run step by step, gives the network's outputs and gradients.
template <class Cell, class Network>
void check_steps(Cell& cell, Network& network) {
  load_layer(cell, network.weights(0));
  Tensor x = randn({steps, batch, inputs}).requires_grad_();
  Tensor same = x.detach().clone().requires_grad_();
  const Tensor dy = randn({steps, batch, hidden}), y = network(x);
  y.backward(dy);
  std::vector<Tensor> outputs;
  if constexpr (std::is_same_v<Cell, nn::LSTMCell>) {
    nn::LSTMState state;
    for (std::int64_t t = 0; t < steps; ++t) {
      state = cell.forward(same.select(0, t), state);
      outputs.push_back(state.h);
    }
  } else {
    Tensor h;
    for (std::int64_t t = 0; t < steps; ++t) outputs.push_back(h = cell.forward(same.select(0, t), h));
  }
  const Tensor joined = stack(outputs);
  check_close(joined, values_of(y), rounding);
  joined.backward(dy);
  check_close(same.grad(), values_of(x.grad()), {32});
  check_same_gradients(cell, network.weights(0));
}

}  // namespace

TEST_CASE("recurrent cells have PyTorch's parameters") {
  CHECK(names_of(nn::LSTMCell(2, 3)) == std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih", "bias_hh"});
  CHECK(names_of(nn::GRUCell(2, 3, {.bias = false})) == std::vector<std::string>{"weight_ih", "weight_hh"});
  CHECK(nn::LSTMCell(2, 3).weight_ih.shape() == Shape{12, 2});
  CHECK(nn::GRUCell(2, 3).weight_hh.shape() == Shape{9, 3});
  CHECK(nn::RNNCell(2, 3).bias_hh.shape() == Shape{3});
}

TEST_CASE("recurrent cells, step by step, do what the networks do") {
  nn::LSTMCell lstm_cell(inputs, hidden);
  nn::LSTM lstm(inputs, hidden);
  check_steps(lstm_cell, lstm);
  nn::GRUCell gru_cell(inputs, hidden);
  nn::GRU gru(inputs, hidden);
  check_steps(gru_cell, gru);
  nn::RNNCell rnn_cell(inputs, hidden);
  nn::RNN rnn(inputs, hidden);
  check_steps(rnn_cell, rnn);
  nn::RNNCell relu_cell(inputs, hidden, {.nonlinearity = nn::Nonlinearity::relu});
  nn::RNN relu(inputs, hidden, {.nonlinearity = nn::Nonlinearity::relu});
  check_steps(relu_cell, relu);
}

TEST_CASE("recurrent cells: forward of one tensor starts from zeros") {
  const Tensor x = randn({batch, inputs});
  nn::GRUCell gru(inputs, hidden);
  check_close(gru(x), values_of(gru.forward(x, zeros({batch, hidden}))), {0});
  nn::RNNCell rnn(inputs, hidden);
  check_close(rnn(x), values_of(rnn.forward(x, zeros({batch, hidden}))), {0});
  nn::LSTMCell lstm(inputs, hidden);
  check_error([&] { lstm(x); }, {"no forward of one tensor"});
  const nn::LSTMState state = lstm.forward(x, {});
  CHECK(state.c.requires_grad());
  CHECK(!state.detach().c.requires_grad());
}

TEST_CASE("StackedLSTM does what a network of several layers does, one step at a time") {
  nn::StackedLSTM stacked(inputs, hidden, {.num_layers = 3, .dropout = 0});
  CHECK(stacked.num_layers() == 3);
  CHECK(names_of(stacked)[4] == "layers.1.weight_ih");
  nn::LSTM lstm(inputs, hidden, {.num_layers = 3});
  NamedTensors state;
  for (int layer = 0; layer < 3; ++layer) {
    const std::string prefix = "layers." + std::to_string(layer) + '.';
    const RnnWeights& w = lstm.weights(layer);
    state.insert(state.end(), {{prefix + "weight_ih", w.weight_ih},
                               {prefix + "weight_hh", w.weight_hh},
                               {prefix + "bias_ih", w.bias_ih},
                               {prefix + "bias_hh", w.bias_hh}});
  }
  stacked.load_state_dict(state);
  const Tensor x = randn({steps, batch, inputs});
  const auto [y, last] = lstm.forward(x, {});
  nn::StackedLSTM::States states;
  std::vector<Tensor> outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    const auto step = stacked.forward(x.select(0, t), states);
    REQUIRE(step.outputs.size() == 3);
    outputs.push_back(step.outputs.back());
    states = step.states;
  }
  check_close(stack(outputs), values_of(y), rounding);
  check_close(stack(states.h), values_of(last.h), rounding);
  check_close(stack(states.c), values_of(last.c), rounding);
  CHECK(states.h[0].requires_grad());
  CHECK(!states.detach().h[0].requires_grad());
}

TEST_CASE("StackedLSTM drops what goes to the next layer and out, not the states") {
  nn::StackedLSTM stacked(inputs, hidden, {.num_layers = 2, .dropout = 1});
  const Tensor x = randn({batch, inputs});
  const auto training = stacked.forward(x, {});
  for (const Tensor& output : training.outputs)
    for (const double value : values_of(output)) CHECK(value == 0);
  const std::vector<double> kept = values_of(training.states.h[0]);
  CHECK(kept != std::vector<double>(kept.size(), 0));
  stacked.eval();
  const auto after = stacked.forward(x, {});
  check_close(after.outputs[1], values_of(after.states.h[1]), {0});
  check_close(stacked(x), values_of(after.outputs[1]), {0});
}

TEST_CASE("recurrent cells: refusals") {
  nn::LSTMCell lstm(2, 3);
  nn::GRUCell gru(2, 3);
  const Tensor x = zeros({4, 2}), none;
  check_error([] { nn::LSTMCell(0, 3); }, {"[LSTMCell]", "input_size 0", "hidden_size 3"});
  check_error([&] { lstm.forward(zeros({4, 3}), {}); }, {"[LSTMCell]", "x", "2", "(4, 3)"});
  check_error([&] { lstm.forward(zeros({4}), {}); }, {"[LSTMCell]", "x", "(4)"});
  check_error([&] { lstm.forward(x, {zeros({4, 2}), none}); }, {"[LSTMCell]", "h", "(4, 3)", "(4, 2)"});
  check_error([&] { lstm.forward(x, {none, zeros({3, 3})}); }, {"[LSTMCell]", "c", "(4, 3)", "(3, 3)"});
  check_error([&] { gru.forward(x, zeros({4, 3}, DType::i32)); }, {"h0", "i32"});
  check_error([] { nn::StackedLSTM(2, 3, {.num_layers = 0}); }, {"[StackedLSTM]", "num_layers", "0"});
  check_error([] { nn::StackedLSTM(2, 3, {.dropout = 1.5}); }, {"[StackedLSTM]", "dropout 1.5"});
  nn::StackedLSTM stacked(2, 3, {.num_layers = 2});
  check_error([&] { stacked.forward(x, {{zeros({4, 3})}, {}}); }, {"[StackedLSTM]", "1", "h", "2 layers"});
  check_error([&] { stacked.forward(x, {{}, {none, none, none}}); }, {"[StackedLSTM]", "3", "c", "2 layers"});
}
