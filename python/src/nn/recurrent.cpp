// Recurrent layers and cells. Results are tuples, as in PyTorch.
#include "arguments.h"
#include "nn/module.h"

namespace crisol::python {

namespace {

using Pair = std::pair<Tensor, Tensor>;
using OptionalTensor = std::optional<Tensor>;
using OptionalPair = std::optional<Pair>;
using Lengths = std::variant<std::vector<std::int64_t>, Tensor>;

nn::Nonlinearity nonlinearity_of(const std::string& name) {
  if (name == "tanh") return nn::Nonlinearity::tanh;
  if (name == "relu") return nn::Nonlinearity::relu;
  throw nb::value_error("nonlinearity is \"tanh\" or \"relu\"");
}

const char* name_of_nonlinearity(bool is_relu) { return is_relu ? "relu" : "tanh"; }

nn::SequenceLengths lengths_of(const std::optional<Lengths>& lengths) {
  if (!lengths) return {};
  if (const Tensor* tensor = std::get_if<Tensor>(&*lengths)) return *tensor;
  return std::get<std::vector<std::int64_t>>(*lengths);
}

nn::LSTMState state_of(const OptionalPair& pair) {
  return pair ? nn::LSTMState{pair->first, pair->second} : nn::LSTMState();
}

template <class L>
LayerClass<L> bind_network(nb::module_& m, const char* name, const char* text) {
  LayerClass<L> layer = make_class<L>(m, name, text);
  if constexpr (std::is_same_v<L, nn::RNN>)
    layer.def(
        "__init__",
        [](nb::pointer_and_handle<L> self, std::int64_t input_size, std::int64_t hidden_size, int num_layers,
           const std::string& nonlinearity, Truth bias, Truth batch_first, double dropout, Truth bidirectional,
           nb::handle, nb::handle) {
          construct(self, input_size, hidden_size,
                    nn::RecurrentOptions{num_layers, bias, batch_first, dropout, bidirectional, 0,
                                         nonlinearity_of(nonlinearity)});
        },
        "input_size"_a, "hidden_size"_a, "num_layers"_a = 1, "nonlinearity"_a = "tanh", "bias"_a.none() = true,
        "batch_first"_a.none() = false, "dropout"_a = 0.0, "bidirectional"_a.none() = false, "device"_a = nb::none(),
        "dtype"_a = nb::none(), kept_and_moved<8>);
  else
    layer.def(
        "__init__",
        [](nb::pointer_and_handle<L> self, std::int64_t input_size, std::int64_t hidden_size, int num_layers,
           Truth bias, Truth batch_first, double dropout, Truth bidirectional, std::int64_t proj_size, nb::handle,
           nb::handle) {
          construct(self, input_size, hidden_size,
                    nn::RecurrentOptions{num_layers, bias, batch_first, dropout, bidirectional, proj_size});
        },
        "input_size"_a, "hidden_size"_a, "num_layers"_a = 1, "bias"_a.none() = true, "batch_first"_a.none() = false,
        "dropout"_a = 0.0, "bidirectional"_a.none() = false, "proj_size"_a = 0, "device"_a = nb::none(),
        "dtype"_a = nb::none(), kept_and_moved<8>);
  layer.def("_made_with", [](const L& self) {
    const nn::RecurrentOptions& o = self.options();
    if constexpr (std::is_same_v<L, nn::RNN>)
      return nb::make_tuple(self.input_size(), self.hidden_size(), o.num_layers,
                            name_of_nonlinearity(o.nonlinearity == nn::Nonlinearity::relu), o.bias, o.batch_first,
                            o.dropout, o.bidirectional);
    else
      return nb::make_tuple(self.input_size(), self.hidden_size(), o.num_layers, o.bias, o.batch_first, o.dropout,
                            o.bidirectional, o.proj_size);
  });
  if constexpr (std::is_same_v<L, nn::LSTM>)
    layer.def(
        "forward",
        [](L& self, const Tensor& x, const OptionalPair& hx, const std::optional<Lengths>& lengths) {
          nn::LSTMOutput y = self.forward(x, state_of(hx), lengths_of(lengths));
          return std::make_pair(y.output, Pair(y.state.h, y.state.c));
        },
        "input"_a, "hx"_a = nb::none(), "lengths"_a = nb::none(), Unlocked(),
        "x (T, B, input_size), or (B, T, input_size) with batch_first, and hx = (h_0, c_0) give output, (h_n, c_n). "
        "Sequences of other lengths than T have theirs in lengths (B).");
  else
    layer.def(
        "forward",
        [](L& self, const Tensor& x, const OptionalTensor& hx, const std::optional<Lengths>& lengths) {
          nn::RNNOutput y = self.forward(x, or_undefined(hx), lengths_of(lengths));
          return Pair(y.output, y.h_n);
        },
        "input"_a, "hx"_a = nb::none(), "lengths"_a = nb::none(), Unlocked(),
        "x (T, B, input_size), or (B, T, input_size) with batch_first, and hx = h_0 give output, h_n. Sequences of "
        "other lengths than T have theirs in lengths (B).");
  return layer;
}

template <class L>
void bind_cell(nb::module_& m, const char* name, const char* text) {
  LayerClass<L> layer = make_class<L>(m, name, text);
  if constexpr (std::is_same_v<L, nn::RNNCell>)
    layer.def(
        "__init__",
        [](nb::pointer_and_handle<L> self, std::int64_t input_size, std::int64_t hidden_size, Truth bias,
           const std::string& nonlinearity, nb::handle, nb::handle) {
          construct(self, input_size, hidden_size, nn::RecurrentCellOptions{bias, nonlinearity_of(nonlinearity)});
        },
        "input_size"_a, "hidden_size"_a, "bias"_a.none() = true, "nonlinearity"_a = "tanh", "device"_a = nb::none(),
        "dtype"_a = nb::none(), kept_and_moved<4>);
  else
    layer.def(
        "__init__",
        [](nb::pointer_and_handle<L> self, std::int64_t input_size, std::int64_t hidden_size, Truth bias, nb::handle,
           nb::handle) { construct(self, input_size, hidden_size, nn::RecurrentCellOptions{bias}); },
        "input_size"_a, "hidden_size"_a, "bias"_a.none() = true, "device"_a = nb::none(), "dtype"_a = nb::none(),
        kept_and_moved<3>);
  layer.def("_made_with", [](const L& self) {
    const std::int64_t inputs = self.weight_ih.size(1), hidden = self.weight_hh.size(1);
    if constexpr (std::is_same_v<L, nn::RNNCell>)
      return nb::make_tuple(inputs, hidden, self.bias_ih.defined(), name_of_nonlinearity(self.cell() == RnnCell::relu));
    else
      return nb::make_tuple(inputs, hidden, self.bias_ih.defined());
  });
  if constexpr (std::is_same_v<L, nn::LSTMCell>)
    layer.def(
        "forward",
        [](L& self, const Tensor& x, const OptionalPair& hx) {
          nn::LSTMState next = self.forward(x, state_of(hx));
          return Pair(next.h, next.c);
        },
        "input"_a, "hx"_a = nb::none(), Unlocked(), "x (B, input_size) and hx = (h, c) give the next (h, c).");
  else
    layer.def(
        "forward", [](L& self, const Tensor& x, const OptionalTensor& hx) { return self.forward(x, or_undefined(hx)); },
        "input"_a, "hx"_a = nb::none(), Unlocked(),
        "x (B, input_size) and the state hx (B, hidden_size) give the next.");
}

}  // namespace

void bind_recurrent_layers(nb::module_& m) {
  bind_network<nn::RNN>(m, "RNN", "Elman's recurrent network over whole sequences.");
  bind_network<nn::LSTM>(m, "LSTM", "Long short-term memory over whole sequences.");
  bind_network<nn::GRU>(m, "GRU", "Gated recurrent units over whole sequences.");
  bind_cell<nn::RNNCell>(m, "RNNCell", "One step of an RNN.");
  bind_cell<nn::LSTMCell>(m, "LSTMCell", "One step of an LSTM.");
  bind_cell<nn::GRUCell>(m, "GRUCell", "One step of a GRU.");
}

}  // namespace crisol::python
