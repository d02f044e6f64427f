// Gradients of recurrent networks: every weight, bias, input and state, for each kind of cell, 1 to 3 layers, both
// directions, with and without lengths, batch_first and projection.
#include <string>
#include <vector>

#include "crisol/functions/cat.h"
#include "crisol/nn/rnn.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr std::int64_t steps = 3, batch = 2, inputs = 2, hidden = 3;

// Small weights. With ReLU, the biases keep each unit clearly on or clearly off, so that it is smooth within the
// check's steps.
void set_parameters(nn::RecurrentNetwork& network, bool relu) {
  std::uint64_t seed = 100;
  for (auto& [name, tensor] : network.state_dict()) {
    const bool bias = name.rfind("bias", 0) == 0, input = name.rfind("bias_ih", 0) == 0;
    const double bound = bias && relu ? 0.1 : 0.3;
    std::vector<double> values = random_values(++seed, tensor.numel(), -bound, bound);
    for (std::size_t i = 0; relu && input && i < values.size(); ++i) values[i] += i % 3 == 1 ? -2 : 2;
    Tensor(tensor).copy_from(tensor_of(values, tensor.shape()));
  }
}

struct Case {
  int layers;
  bool both, lengths, batch_first;
  std::int64_t projection = 0;
  nn::Nonlinearity nonlinearity = nn::Nonlinearity::tanh;

  nn::RecurrentOptions options() const {
    nn::RecurrentOptions result;
    result.num_layers = layers;
    result.bidirectional = both;
    result.batch_first = batch_first;
    result.proj_size = projection;
    result.nonlinearity = nonlinearity;
    return result;
  }
};

template <class Network>
void check(const Case& c) {
  constexpr bool is_lstm = std::is_same_v<Network, nn::LSTM>;
  CAPTURE(c.layers);
  CAPTURE(c.both);
  CAPTURE(c.lengths);
  CAPTURE(c.batch_first);
  CAPTURE(c.projection);
  Network network(inputs, hidden, c.options());
  set_parameters(network, !is_lstm && c.nonlinearity == nn::Nonlinearity::relu);
  const std::int64_t states = c.layers * (c.both ? 2 : 1), outputs = c.projection > 0 ? c.projection : hidden;
  const Shape shape = c.batch_first ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs};
  std::vector<Tensor> leaves{tensor_of(random_values(1, shape.numel()), shape),
                             tensor_of(random_values(2, states * batch * outputs), {states, batch, outputs})};
  if (is_lstm) leaves.push_back(tensor_of(random_values(3, states * batch * hidden), {states, batch, hidden}));
  for (const Tensor& parameter : network.parameters()) leaves.push_back(parameter);
  const nn::SequenceLengths lengths = c.lengths ? nn::SequenceLengths({1, 3}) : nn::SequenceLengths();
  const auto run = [&](const std::vector<Tensor>& in) {
    if constexpr (is_lstm) {
      const auto [y, last] = network.forward(in[0], {in[1], in[2]}, lengths);
      return cat({y.flatten(), last.h.flatten(), last.c.flatten()});
    } else {
      const auto [y, h_n] = network.forward(in[0], in[1], lengths);
      return cat({y.flatten(), h_n.flatten()});
    }
  };
  // A few elements of each input, and a random direction over all elements.
  check_gradients(run, leaves, {.elements = 2});
}

template <class Network>
void check_all(std::int64_t projection = 0, nn::Nonlinearity nonlinearity = nn::Nonlinearity::tanh) {
  for (const int layers : {1, 2, 3})
    for (const bool both : {false, true})
      for (const bool lengths : {false, true})
        for (const bool batch_first : {false, true}) {
          // Slow devices run each option once, all options together, and the deepest network.
          if (slow_launches() && !(layers == 1 && !both && lengths != batch_first) &&
              !(layers == 2 && both && lengths && batch_first))
            continue;
          check<Network>({layers, both, lengths, batch_first, projection, nonlinearity});
        }
}

}  // namespace

TEST_CASE("gradients of RNN, tanh") { check_all<nn::RNN>(); }
TEST_CASE("gradients of RNN, ReLU") { check_all<nn::RNN>(0, nn::Nonlinearity::relu); }
TEST_CASE("gradients of LSTM") { check_all<nn::LSTM>(); }
TEST_CASE("gradients of LSTM with projection") { check_all<nn::LSTM>(2); }
TEST_CASE("gradients of GRU") { check_all<nn::GRU>(); }
