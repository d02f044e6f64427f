// Recurrent networks over sequences.
#include <memory>

#include "cli/bench/groups.h"
#include "crisol/autograd.h"
#include "crisol/nn/rnn.h"

namespace crisol::cli::bench {

namespace {

template <class Network>
std::shared_ptr<nn::Module> make(const Values& v) {
  nn::RecurrentOptions options;
  options.num_layers = v.small("layers");
  return std::make_shared<Network>(v.number("i"), v.number("h"), options);
}

std::shared_ptr<nn::Module> make_network(const Values& v) {
  if (v.is("kind", "lstm")) return make<nn::LSTM>(v);
  if (v.is("kind", "gru")) return make<nn::GRU>(v);
  return make<nn::RNN>(v);
}

double gates_of(const std::string& kind) { return kind == "lstm" ? 4 : kind == "gru" ? 3 : 1; }

Work prepare_rnn(const Values& v) {
  const std::shared_ptr<nn::Module> network = make_network(v);
  network->to(dtype_of(v));
  const Tensor x = numbers(v, {v.number("t"), v.number("b"), v.number("i")});
  const auto h = static_cast<double>(v.number("h")), layers = static_cast<double>(v.number("layers"));
  const double inputs = static_cast<double>(v.number("i")) + (layers - 1) * h;  // The sum over all layers.
  Work work;
  work.items = static_cast<double>(v.number("b"));
  work.item = "sequences";
  work.flops =
      2 * static_cast<double>(v.number("t")) * work.items * gates_of(v.text("kind")) * h * (inputs + layers * h);
  // The least number of bytes: inputs, gates and outputs of every step once, and the weights once. Training counts all
  // of these three times.
  const double gates = gates_of(v.text("kind"));
  work.bytes =
      element_bytes(v) * (static_cast<double>(v.number("t")) * work.items * (inputs + layers * (2 * gates + 1) * h) +
                          gates * h * (inputs + layers * h));
  if (v.is("dir", "fwd")) {
    work.run = [=] {
      const NoGrad no_grad;
      (*network)(x);
    };
  } else {
    const Tensor dy = numbers(v, {v.number("t"), v.number("b"), v.number("h")});
    work.flops *= 3;
    work.bytes *= 3;
    work.run = [=] {
      network->zero_grad();
      (*network)(x.detach().requires_grad_()).backward(dy);
    };
  }
  return work;
}

}  // namespace

const Case rnn_case{"rnn",
                    "recurrent networks over sequences (t, b, i)",
                    {{"kind", "lstm", "rnn|lstm|gru", ""},
                     {"t", "50", ">=1", "steps"},
                     {"b", "32", ">=1", "sequences"},
                     {"i", "256", ">=1", "inputs of a step"},
                     {"h", "512", ">=1", "hidden units"},
                     {"layers", "1", ">=1", ""},
                     {"dir", "fwd", "fwd|train", "train: forward, and backward to inputs and all weights"},
                     dtype_key()},
                    prepare_rnn};

}  // namespace crisol::cli::bench
