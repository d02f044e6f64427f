// Recurrent cells and networks, compared with PyTorch's results: tests/fixtures/make_rnn.py.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/io/safetensors.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/rnn.h"
#include "crisol/nn/rnn_cell.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr std::int64_t input_size = 3, hidden_size = 5;
// Both sides round sums of about ten terms in each of six steps. PyTorch's gradients of weights are f32 sums over 24
// rows.
const Tolerance rounding{64};

using Tensors = std::map<std::string, Tensor>;

const Tensors& fixtures() {
  static const Tensors all = [] {
    Tensors tensors;
    for (const auto& [name, tensor] : io::load_safetensors(CRISOL_FIXTURES "/rnn.safetensors")) tensors[name] = tensor;
    return tensors;
  }();
  return all;
}

// One case of the fixture file.
struct Fixture {
  std::string name;

  Tensor get(const std::string& what) const {
    INFO(name << '/' << what);
    const auto found = fixtures().find(name + "/" + what);
    REQUIRE(found != fixtures().end());
    return found->second;
  }
  Tensor leaf(const std::string& what) const { return get(what).clone().requires_grad_(); }
  void check(const std::string& what, const Tensor& actual) const {
    CAPTURE(name);
    CAPTURE(what);
    REQUIRE(actual.defined());
    const Tensor expected = get(what);
    check_close(actual, expected.shape(), values_of(expected), rounding);
  }
};

// Runs the module on the case's inputs and compares outputs and all gradients. `run` returns y, h_n and, for an LSTM,
// c_n.
void check_case(const std::string& name, nn::Module& module, bool is_lstm,
                const std::function<std::vector<Tensor>(const Tensor&, const Tensor&, const Tensor&)>& run) {
  const Fixture fixture{name};
  NamedTensors state;
  for (const auto& [parameter, tensor] : module.named_parameters())
    state.emplace_back(parameter, fixture.get(parameter));
  module.load_state_dict(state);
  const Tensor x = fixture.leaf("x"), h0 = fixture.leaf("h0"), c0 = is_lstm ? fixture.leaf("c0") : Tensor();
  const std::vector<Tensor> outputs = run(x, h0, c0);
  const std::vector<std::string> names{"y", "h_n", "c_n"};
  Tensor loss = zeros({});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    fixture.check(names[i], outputs[i]);
    loss = loss + sum(outputs[i] * fixture.get("d" + names[i]));
  }
  loss.backward();
  fixture.check("grad/x", x.grad());
  fixture.check("grad/h0", h0.grad());
  if (is_lstm) fixture.check("grad/c0", c0.grad());
  for (const auto& [parameter, tensor] : module.named_parameters()) fixture.check("grad/" + parameter, tensor.grad());
}

nn::SequenceLengths lengths_if(bool given) {
  return given ? nn::SequenceLengths(fixtures().at("lengths")) : nn::SequenceLengths();
}

template <class Network>
void check_network(const std::string& name, const nn::RecurrentOptions& options, bool with_lengths) {
  Network network(input_size, hidden_size, options);
  check_case(name, network, std::is_same_v<Network, nn::LSTM>,
             [&](const Tensor& x, const Tensor& h0, const Tensor& c0) -> std::vector<Tensor> {
               if constexpr (std::is_same_v<Network, nn::LSTM>) {
                 const auto [y, last] = network.forward(x, {h0, c0}, lengths_if(with_lengths));
                 return {y, last.h, last.c};
               } else {
                 const auto [y, h_n] = network.forward(x, h0, lengths_if(with_lengths));
                 return {y, h_n};
               }
             });
}

struct Classifier : nn::Module {
  Tensor forward(const Tensor& x) override { return head(lstm(x).select(1, -1)); }

  nn::LSTM lstm = register_module("lstm", nn::LSTM(input_size, hidden_size, {.num_layers = 2, .batch_first = true}));
  nn::Linear head = register_module("head", nn::Linear(hidden_size, 7));
};

}  // namespace

TEST_CASE("recurrent networks give PyTorch's outputs and gradients") {
  check_network<nn::RNN>("rnn_tanh", {.num_layers = 2, .bidirectional = true}, true);
  check_network<nn::RNN>("rnn_relu", {.batch_first = true, .nonlinearity = nn::Nonlinearity::relu}, false);
  check_network<nn::LSTM>("lstm", {}, false);
  check_network<nn::LSTM>("lstm_no_bias", {.bias = false, .batch_first = true}, true);
  check_network<nn::LSTM>("lstm_deep", {.num_layers = 3, .bidirectional = true}, true);
  check_network<nn::LSTM>("lstm_projected", {.num_layers = 2, .bidirectional = true, .proj_size = 2}, true);
  check_network<nn::GRU>("gru", {.num_layers = 2}, false);
  check_network<nn::GRU>("gru_both", {.num_layers = 2, .batch_first = true, .bidirectional = true}, true);
}

TEST_CASE("recurrent cells give PyTorch's outputs and gradients") {
  nn::RNNCell rnn(input_size, hidden_size);
  check_case("rnn_cell", rnn, false, [&](const Tensor& x, const Tensor& h, const Tensor&) -> std::vector<Tensor> {
    const Tensor next = rnn.forward(x, h);
    return {next, next};
  });
  nn::LSTMCell lstm(input_size, hidden_size);
  check_case("lstm_cell", lstm, true, [&](const Tensor& x, const Tensor& h, const Tensor& c) -> std::vector<Tensor> {
    const nn::LSTMState next = lstm.forward(x, {h, c});
    return {next.h, next.h, next.c};
  });
  nn::GRUCell gru(input_size, hidden_size);
  check_case("gru_cell", gru, false, [&](const Tensor& x, const Tensor& h, const Tensor&) -> std::vector<Tensor> {
    const Tensor next = gru.forward(x, h);
    return {next, next};
  });
}

TEST_CASE("a state dict that PyTorch saved loads as it is and gives the same logits") {
  Classifier model;
  model.load_state_dict(io::load_safetensors(CRISOL_FIXTURES "/rnn_state_dict.safetensors"));
  const NoGrad no_grad;
  const Tensor logits = fixtures().at("classifier/logits");
  check_close(model(fixtures().at("classifier/x")), logits.shape(), values_of(logits), rounding);
}
