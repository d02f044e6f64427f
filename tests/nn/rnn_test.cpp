// Recurrent networks: names, initial values, layers and directions against the reference, lengths, dropout, errors.
#include "crisol/nn/rnn.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/device.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "reference/rnn.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
using reference::Numbers;

namespace {

std::vector<std::string> names_of(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : module.state_dict()) names.push_back(name);
  return names;
}

reference::RnnNumbers numbers_of(const RnnWeights& w) {
  const auto values = [](const Tensor& x) { return x.defined() ? values_of(x) : Numbers(); };
  return {values(w.weight_ih), values(w.weight_hh), values(w.bias_ih), values(w.bias_hh), values(w.weight_hr)};
}

// Runs the reference for all layers and directions and joins the results as the network does. Initial states are zeros.
struct Expected {
  Numbers y, h_n, c_n;
};

Expected expected_of(const nn::RecurrentNetwork& network, RnnCell cell, Numbers x, std::int64_t steps,
                     std::int64_t batch, const std::vector<std::int64_t>& lengths) {
  const nn::RecurrentOptions& o = network.options();
  Expected result;
  std::int64_t inputs = network.input_size();
  for (int layer = 0; layer < o.num_layers; ++layer) {
    std::vector<Numbers> outputs;
    reference::RnnLayer l{cell, false, steps, batch, inputs, network.hidden_size(), o.proj_size, o.bias, lengths};
    for (const bool reverse : {false, true}) {
      if (reverse && !o.bidirectional) continue;
      l.reverse = reverse;
      const Numbers h0(static_cast<std::size_t>(batch * l.outputs()));
      const Numbers c0(static_cast<std::size_t>(cell == RnnCell::lstm ? batch * l.hidden : 0));
      const auto out = reference::rnn_forward(l, {x, h0, c0}, numbers_of(network.weights(layer, reverse)));
      outputs.push_back(out.y);
      result.h_n.insert(result.h_n.end(), out.h_n.begin(), out.h_n.end());
      result.c_n.insert(result.c_n.end(), out.c_n.begin(), out.c_n.end());
    }
    x.clear();
    for (std::int64_t row = 0; row < steps * batch; ++row)
      for (const Numbers& y : outputs)
        x.insert(x.end(), y.begin() + row * l.outputs(), y.begin() + (row + 1) * l.outputs());
    inputs = l.outputs() * static_cast<std::int64_t>(outputs.size());
  }
  result.y = x;
  return result;
}

constexpr std::int64_t steps = 5, batch = 3, inputs = 4, hidden = 6;
// Sums of about ten terms in each of five steps of at most three layers.
const Tolerance rounding{64, 1};

void check_lstm(const nn::RecurrentOptions& options, const std::vector<std::int64_t>& lengths) {
  CAPTURE(options.num_layers);
  CAPTURE(options.bidirectional);
  CAPTURE(options.batch_first);
  CAPTURE(options.proj_size);
  CAPTURE(lengths.empty());
  nn::LSTM lstm(inputs, hidden, options);
  const Numbers values = random_values(1, steps * batch * inputs);
  const Expected expected = expected_of(lstm, RnnCell::lstm, values, steps, batch, lengths);
  const Tensor x = tensor_of(values, {steps, batch, inputs});
  const auto [output, state] = lstm.forward(options.batch_first ? x.transpose(0, 1) : x, {},
                                            lengths.empty() ? nn::SequenceLengths() : nn::SequenceLengths(lengths));
  const std::int64_t directions = options.bidirectional ? 2 : 1, states = options.num_layers * directions;
  const std::int64_t outputs = options.proj_size > 0 ? options.proj_size : hidden;
  check_close(options.batch_first ? output.transpose(0, 1) : output, {steps, batch, directions * outputs}, expected.y,
              rounding);
  check_close(state.h, {states, batch, outputs}, expected.h_n, rounding);
  check_close(state.c, {states, batch, hidden}, expected.c_n, rounding);
}

}  // namespace

TEST_CASE("LSTM, GRU and RNN have PyTorch's parameters") {
  const nn::LSTM lstm(3, 5, {.num_layers = 2, .bidirectional = true, .proj_size = 2});
  CHECK(names_of(lstm) ==
        std::vector<std::string>{
            "weight_ih_l0",         "weight_hh_l0",         "bias_ih_l0",           "bias_hh_l0",
            "weight_hr_l0",         "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
            "bias_hh_l0_reverse",   "weight_hr_l0_reverse", "weight_ih_l1",         "weight_hh_l1",
            "bias_ih_l1",           "bias_hh_l1",           "weight_hr_l1",         "weight_ih_l1_reverse",
            "weight_hh_l1_reverse", "bias_ih_l1_reverse",   "bias_hh_l1_reverse",   "weight_hr_l1_reverse"});
  CHECK(lstm.weights(0).weight_ih.shape() == Shape{20, 3});
  CHECK(lstm.weights(1, true).weight_ih.shape() == Shape{20, 4});
  CHECK(lstm.weights(1).weight_hh.shape() == Shape{20, 2});
  CHECK(lstm.weights(0).weight_hr.shape() == Shape{2, 5});
  CHECK(names_of(nn::GRU(3, 5, {.bias = false})) == std::vector<std::string>{"weight_ih_l0", "weight_hh_l0"});
  CHECK(nn::GRU(3, 5).weights(0).bias_hh.shape() == Shape{15});
  CHECK(nn::RNN(3, 5).weights(0).weight_hh.shape() == Shape{5, 5});
}

TEST_CASE("recurrent parameters start uniform in the hidden size's bound") {
  manual_seed(1);
  const nn::LSTM lstm(50, 100);
  for (const auto& [name, tensor] : lstm.state_dict()) {
    CAPTURE(name);
    const double bound = 0.1;
    const std::vector<double> values = values_of(tensor);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    CHECK(*least >= -bound);
    CHECK(*most <= bound);
    // The standard deviations of the mean of n uniform numbers and of their extremes:
    // bound / sqrt(3 n) and 2 bound / n.
    const double n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value / n;
    CHECK(std::abs(mean) < 5 * bound / std::sqrt(3 * n));
    CHECK(*most > bound * (1 - 30 / n));
    CHECK(*least < -bound * (1 - 30 / n));
  }
}

TEST_CASE("LSTM: layers, directions, lengths, batch_first and projection agree with the reference") {
  for (const int layers : {1, 2, 3})
    for (const bool both : {false, true})
      for (const bool batch_first : {false, true})
        for (const std::int64_t projection : {0, 2})
          for (const bool lengths : {false, true}) {
            if (slow_device() && (layers == 3 || both != lengths)) continue;
            nn::RecurrentOptions options;
            options.num_layers = layers;
            options.bidirectional = both;
            options.batch_first = batch_first;
            options.proj_size = projection;
            check_lstm(options, lengths ? std::vector<std::int64_t>{2, 5, 1} : std::vector<std::int64_t>());
          }
}

TEST_CASE("GRU and RNN agree with the reference") {
  const Numbers values = random_values(1, steps * batch * inputs);
  const Tensor x = tensor_of(values, {steps, batch, inputs});
  nn::RecurrentOptions options{.num_layers = 2, .bidirectional = true};
  nn::GRU gru(inputs, hidden, options);
  const auto check = [&](auto& network, RnnCell cell) {
    const Expected expected = expected_of(network, cell, values, steps, batch, {4, 1, 5});
    const auto [output, h_n] = network.forward(x, Tensor(), {4, 1, 5});
    check_close(output, {steps, batch, 2 * hidden}, expected.y, rounding);
    check_close(h_n, {4, batch, hidden}, expected.h_n, rounding);
  };
  check(gru, RnnCell::gru);
  nn::RNN rnn(inputs, hidden, options);
  check(rnn, RnnCell::tanh);
  options.nonlinearity = nn::Nonlinearity::relu;
  nn::RNN relu(inputs, hidden, options);
  check(relu, RnnCell::relu);
}

TEST_CASE("recurrent networks: lengths from a tensor, forward of one tensor, sequences of length T") {
  nn::GRU gru(inputs, hidden, {.bidirectional = true});
  const NoGrad no_grad;
  const Tensor x = randn({steps, batch, inputs});
  const Tensor y = gru.forward(x, Tensor(), {3, 5, 1}).output;
  const std::vector<double> expected = values_of(y);
  CHECK(values_of(gru.forward(x, Tensor(), from_vector<std::int64_t>({3, 5, 1})).output) == expected);
  CHECK(values_of(gru.forward(x, Tensor(), from_vector<std::int32_t>({3, 5, 1})).output) == expected);
  CHECK(values_of(gru(x)) == values_of(gru.forward(x, Tensor(), {5, 5, 5}).output));
}

TEST_CASE("recurrent networks: a batch without sequences gives empty results") {
  nn::LSTM lstm(inputs, hidden, {.num_layers = 2});
  Tensor x = zeros({steps, 0, inputs}).requires_grad_();
  const auto [y, state] = lstm.forward(x, {}, nn::SequenceLengths(std::vector<std::int64_t>()));
  CHECK(y.shape() == Shape{steps, 0, hidden});
  CHECK(state.h.shape() == Shape{2, 0, hidden});
  y.backward(zeros({steps, 0, hidden}));
  CHECK(x.grad().shape() == x.shape());
  check_close(lstm.weights(0).weight_hh.grad(), Numbers(4 * hidden * hidden, 0), {0});
}

TEST_CASE("recurrent networks: gradients do not leak past a sequence's end") {
  nn::LSTM lstm(inputs, hidden, {.num_layers = 2, .bidirectional = true});
  Tensor x = randn({steps, batch, inputs}).requires_grad_();
  const auto [y, state] = lstm.forward(x, {}, {2, 5, 1});
  y.backward(ones(y.shape()));
  const std::vector<float> dx = x.grad().to_vector<float>();
  const std::int64_t lengths[] = {2, 5, 1};
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < inputs; ++i) {
        const float value = dx[static_cast<std::size_t>((t * batch + b) * inputs + i)];
        CHECK((value == 0) == (t >= lengths[b]));
      }
}

TEST_CASE("recurrent networks: chunks with handed-on states give the whole; detaching them truncates the gradients") {
  nn::LSTM lstm(inputs, hidden, {.num_layers = 2});
  Tensor x = randn({6, batch, inputs}).requires_grad_();
  const Tensor whole = lstm(x);
  const auto [first, handed] = lstm.forward(x.narrow(0, 0, 2), {});
  const Tensor second = lstm.forward(x.narrow(0, 2, 4), handed).output;
  check_close(first, values_of(whole.narrow(0, 0, 2)), {8, 1});
  check_close(second, values_of(whole.narrow(0, 2, 4)), {8, 1});
  second.backward(ones(second.shape()));
  const auto past = [&] {
    const std::vector<double> values = values_of(x.grad().narrow(0, 0, 2));
    return std::any_of(values.begin(), values.end(), [](double value) { return value != 0; });
  };
  CHECK(past());
  Tensor again = x.detach().clone().requires_grad_();
  const nn::LSTMState cut = lstm.forward(again.narrow(0, 0, 2), {}).state.detach();
  const Tensor rest = lstm.forward(again.narrow(0, 2, 4), cut).output;
  check_close(rest, values_of(second), {0});
  rest.backward(ones(rest.shape()));
  for (const double value : values_of(again.grad().narrow(0, 0, 2))) CHECK(value == 0);
  check_close(again.grad().narrow(0, 2, 4), values_of(x.grad().narrow(0, 2, 4)), {0});
}

TEST_CASE("recurrent networks: the same run twice gives the same bits") {
  nn::GRU gru(inputs, 40);
  Tensor x = randn({steps, 7, inputs}).requires_grad_();
  std::vector<std::vector<double>> results[2];
  for (auto& result : results) {
    gru.zero_grad();
    const Tensor y = gru(x);
    y.backward(y.detach());
    result.push_back(values_of(y));
    for (const Tensor& parameter : gru.parameters()) result.push_back(values_of(parameter.grad()));
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("recurrent networks: dropout between layers, in training alone") {
  // Layer 0 returns ones, and layer 1 returns its input. So the outputs show the elements that dropout leaves.
  const std::int64_t units = slow_device() ? 16 : 64, rows = 50;
  for (const double p : {0.3, 1.0}) {
    nn::RNN rnn(1, units, {.num_layers = 2, .dropout = p, .nonlinearity = nn::Nonlinearity::relu});
    for (const auto& [name, tensor] : rnn.state_dict()) Tensor(tensor).fill_(name == "bias_ih_l0" ? 1 : 0);
    std::vector<float> identity(static_cast<std::size_t>(units * units));
    for (std::int64_t i = 0; i < units; ++i) identity[static_cast<std::size_t>(i * units + i)] = 1;
    rnn.weights(1).weight_ih.detach().copy_from(identity);
    const Tensor x = zeros({1, rows, 1});
    const std::vector<double> values = values_of(rnn(x));
    std::int64_t dropped = 0;
    for (const double value : values) {
      if (value == 0)
        ++dropped;
      else
        CHECK(value == doctest::Approx(1 / (1 - p)).epsilon(1e-6));
    }
    const double n = static_cast<double>(values.size());
    CHECK(std::abs(static_cast<double>(dropped) - p * n) <= 5 * std::sqrt(n * p * (1 - p)));
    rnn.eval();
    CHECK(values_of(rnn(x)) == std::vector<double>(values.size(), 1));
  }
}

TEST_CASE("recurrent networks: more than 65536 steps times sequences") {
  if (slow_device()) CRISOL_SKIP("some 200,000 steps");
  struct Long {
    std::int64_t steps, batch;
  };
  for (const Long& l : {Long{66000, 1}, Long{33000, 2}, Long{2, 66000}}) {
    // llvmpipe's loops are too short for a whole sequence in one launch. Several launches for each of 66,000 steps take
    // an hour.
    if (l.steps > 2 && Device().info().platform == "rusticl") continue;
    CAPTURE(l.steps);
    nn::LSTM lstm(1, 2);
    const Numbers values = random_values(1, l.steps * l.batch, -2, 2);
    const Expected expected = expected_of(lstm, RnnCell::lstm, values, l.steps, l.batch, {});
    Tensor x = tensor_of(values, {l.steps, l.batch, 1}).requires_grad_();
    const auto [y, state] = lstm.forward(x, {});
    check_close(y, {l.steps, l.batch, 2}, expected.y, rounding);
    check_close(state.h, {1, l.batch, 2}, expected.h_n, rounding);
    const Numbers ones_everywhere(static_cast<std::size_t>(l.steps * l.batch * 2), 1);
    const Numbers none(static_cast<std::size_t>(l.batch * 2));
    const auto gradients = reference::rnn_backward({RnnCell::lstm, false, l.steps, l.batch, 1, 2}, {values, none, none},
                                                   numbers_of(lstm.weights(0)), {ones_everywhere, none, none});
    y.backward(ones(y.shape()));
    check_close(x.grad(), {l.steps, l.batch, 1}, gradients.inputs.x, rounding);
    // Sums over all steps, of terms below 1. They are added in blocks. llvmpipe adds them one after the other, and its
    // error reaches 1.1 times 64.
    const Tolerance sums{128, std::sqrt(static_cast<double>(l.steps * l.batch)) * 4};
    check_close(lstm.weights(0).bias_hh.grad(), gradients.weights.bias_hh, sums);
    check_close(lstm.weights(0).weight_hh.grad(), gradients.weights.weight_hh, sums);
  }
}

TEST_CASE("recurrent networks: refusals when made") {
  check_error([] { nn::LSTM(0, 4); }, {"[LSTM]", "input_size 0", "hidden_size 4"});
  check_error([] { nn::GRU(3, -1); }, {"[GRU]", "input_size 3", "hidden_size -1"});
  check_error([] { nn::RNN(3, 4, {.num_layers = 0}); }, {"[RNN]", "num_layers", "0"});
  check_error([] { nn::LSTM(3, 4, {.dropout = 1.5}); }, {"[LSTM]", "dropout 1.5", "[0, 1]"});
  check_error([] { nn::LSTM(3, 4, {.dropout = -0.1}); }, {"[LSTM]", "dropout -0.1"});
  check_error([] { nn::LSTM(3, 4, {.proj_size = 4}); }, {"[LSTM]", "proj_size 4", "hidden_size 4"});
  check_error([] { nn::LSTM(3, 4, {.proj_size = -1}); }, {"[LSTM]", "proj_size -1"});
  check_error([] { nn::GRU(3, 4, {.proj_size = 2}); }, {"[GRU]", "proj_size 2"});
  check_error([] { nn::LSTM(3, 4).weights(1); }, {"[LSTM]", "layer 1"});
  check_error([] { nn::LSTM(3, 4).weights(0, true); }, {"[LSTM]", "reverse"});
}

TEST_CASE("recurrent networks: refusals when run") {
  nn::LSTM lstm(3, 4, {.num_layers = 2});
  nn::LSTM first(3, 4, {.batch_first = true});
  const Tensor x = zeros({5, 2, 3}), state = zeros({2, 2, 4}), none;
  const auto refuse = [&](const Tensor& input, const nn::LSTMState& initial, const nn::SequenceLengths& lengths,
                          std::initializer_list<std::string_view> parts) {
    check_error([&] { lstm.forward(input, initial, lengths); }, parts);
  };
  refuse(zeros({5, 2, 4}), {}, {}, {"[LSTM]", "x", "3", "(5, 2, 4)"});
  refuse(zeros({5, 3}), {}, {}, {"[LSTM]", "x", "(5, 3)"});
  refuse(zeros({0, 2, 3}), {}, {}, {"0 steps"});
  refuse(zeros({5, 2, 3}, DType::i32), {}, {}, {"i32"});
  refuse(x, {zeros({1, 2, 4}), none}, {}, {"[LSTM]", "h0", "(2, 2, 4)", "(1, 2, 4)"});
  refuse(x, {state, zeros({2, 3, 4})}, {}, {"[LSTM]", "c0", "(2, 2, 4)", "(2, 3, 4)"});
  refuse(x, {zeros({2, 2, 4}, DType::f16), state}, {}, {"[LSTM]", "h0", "f32", "f16"});
  refuse(x, {}, {1, 2, 3}, {"[LSTM]", "3 lengths", "2 sequences"});
  refuse(x, {}, {5, 0}, {"[LSTM]", "lengths[1]", "0", "5 steps"});
  refuse(x, {}, {6, 5}, {"[LSTM]", "lengths[0]", "6", "5 steps"});
  check_error([&] { first.forward(x, {zeros({1, 2, 4}), none}); }, {"[LSTM]", "h0", "(1, 5, 4)", "(1, 2, 4)"});
  check_error([&] { nn::SequenceLengths(zeros({2})); }, {"[SequenceLengths]", "f32"});
  check_error([&] { nn::SequenceLengths(zeros({2, 1}, DType::i64)); }, {"[SequenceLengths]", "(2, 1)"});
}
