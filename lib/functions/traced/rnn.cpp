// The ONNX nodes of recurrent layers. In ONNX the first axis of each weight is the direction, and the gates have
// another order: i, o, f, g in an LSTM, and z, r, n in a GRU. The graph keeps the module's own weights, and has nodes
// that reorder them.
#include "base/text.h"
#include "functions/traced/traced.h"

namespace crisol::traced {

namespace {

using Numbers = std::vector<std::int64_t>;

Value with_direction(Recorder& r, Value x) { return r.node("Unsqueeze", {x, r.numbers({0})}); }

class Layer {
 public:
  Layer(Recorder& r, RnnCell cell, std::int64_t hidden) : r_(r), cell_(cell), hidden_(hidden) {}

  /// A weight or a bias with the gates in ONNX's order.
  Value ordered(const Tensor& weight) const {
    const Value value = r_.of(weight);
    const std::int64_t gates = gates_of(cell_);
    if (gates == 1) return value;
    const std::vector<Value> parts =
        r_.node("Split", {value, r_.numbers(Numbers(static_cast<std::size_t>(gates), hidden_))}, {{"axis", 0}},
                static_cast<int>(gates));
    const std::vector<Value> ordered = cell_ == RnnCell::lstm
                                           ? std::vector<Value>{parts[0], parts[3], parts[1], parts[2]}
                                           : std::vector<Value>{parts[1], parts[0], parts[2]};
    return r_.node("Concat", ordered, {{"axis", 0}});
  }

 private:
  Recorder& r_;
  const RnnCell cell_;
  const std::int64_t hidden_;
};

}  // namespace

void rnn(Recorder& r, const RnnInput& input, const RnnWeights& weights, const RnnOptions& options,
         const RnnOutput& output) {
  require(!weights.weight_hr.defined(), "trace", "an LSTM with a projection has no form in ONNX");
  const bool lstm = options.cell == RnnCell::lstm, gru = options.cell == RnnCell::gru;
  const std::int64_t hidden = weights.weight_hh.size(1);
  const Layer layer(r, options.cell, hidden);
  std::vector<Value> inputs{r.of(input.x), with_direction(r, layer.ordered(weights.weight_ih)),
                            with_direction(r, layer.ordered(weights.weight_hh)), Recorder::absent, Recorder::absent};
  if (weights.bias_ih.defined())
    inputs[3] = with_direction(
        r, r.node("Concat", {layer.ordered(weights.bias_ih), layer.ordered(weights.bias_hh)}, {{"axis", 0}}));
  if (input.lengths.defined()) inputs[4] = cast(r, r.of(input.lengths), input.lengths.dtype(), DType::i32);
  const auto state = [&](const Tensor& t) { return t.defined() ? with_direction(r, r.of(t)) : Recorder::absent; };
  inputs.push_back(state(input.h0));
  if (lstm) inputs.push_back(state(input.c0));
  while (inputs.back() == Recorder::absent) inputs.pop_back();
  Recorder::Attributes attributes{{"hidden_size", hidden}, {"direction", options.reverse ? "reverse" : "forward"}};
  if (gru) attributes.emplace("linear_before_reset", 1);
  if (options.cell == RnnCell::relu) attributes.emplace("activations", std::vector<std::string>{"Relu"});
  const std::vector<Value> made = r.node(lstm ? "LSTM" : gru ? "GRU" : "RNN", inputs, attributes, lstm ? 3 : 2);
  const auto without_direction = [&](Value value, std::int64_t axis) {
    return r.node("Squeeze", {value, r.numbers({axis})});
  };
  r.bind(output.y, without_direction(made[0], 1));
  r.bind(output.h_n, without_direction(made[1], 0));
  if (lstm) r.bind(output.c_n, without_direction(made[2], 0));
}

}  // namespace crisol::traced
