// Recurrent layers. In ONNX the first axis of each weight is the direction, and gates have another order: i, o, f, g in
// an LSTM, and z, r, n in a GRU. The graph reorders the weights, so that it keeps the module's own weights.
#include "crisol/options/rnn.h"
#include "base/text.h"
#include "onnx/writer/lowering.h"

namespace crisol::onnx {

namespace {

using Numbers = std::vector<std::int64_t>;

int with_direction(Lowering& to, int x) { return to.node("Unsqueeze", {x, to.numbers({0})}); }

/// A weight or a bias with the gates in ONNX's order.
int ordered(Lowering& to, int weight, RnnCell cell, std::int64_t hidden) {
  const std::int64_t gates = gates_of(cell);
  if (gates == 1) return weight;
  const std::vector<int> parts =
      to.nodes("Split", {weight, to.numbers(Numbers(static_cast<std::size_t>(gates), hidden))}, {{"axis", 0}},
               static_cast<int>(gates));
  const std::vector<int> in_order = cell == RnnCell::lstm ? std::vector<int>{parts[0], parts[3], parts[1], parts[2]}
                                                          : std::vector<int>{parts[1], parts[0], parts[2]};
  return to.node("Concat", in_order, {{"axis", 0}});
}

}  // namespace

std::vector<int> lower_rnn(Lowering& to, const graph::Node& node) {
  enum Input { x, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr, h0, c0, lengths };
  const std::vector<int>& in = node.inputs;
  require(in[weight_hr] == graph::absent, "trace", "an LSTM with a projection has no form in ONNX");
  const auto cell = static_cast<RnnCell>(std::get<std::int64_t>(node.attributes.at("cell")));
  const bool is_lstm = cell == RnnCell::lstm, is_gru = cell == RnnCell::gru;
  const bool reverse = std::get<std::int64_t>(node.attributes.at("reverse")) != 0;
  const std::int64_t hidden = to.size(in[weight_hh], 1);
  const auto part = [&](Input i) { return ordered(to, in[i], cell, hidden); };
  std::vector<int> inputs{in[x], with_direction(to, part(weight_ih)), with_direction(to, part(weight_hh)),
                          graph::absent, graph::absent};
  if (in[bias_ih] != graph::absent)
    inputs[3] = with_direction(to, to.node("Concat", {part(bias_ih), part(bias_hh)}, {{"axis", 0}}));
  if (in[lengths] != graph::absent) inputs[4] = to.cast(in[lengths], to.dtype(in[lengths]), DType::i32);
  const auto state = [&](int value) { return value == graph::absent ? value : with_direction(to, value); };
  inputs.push_back(state(in[h0]));
  if (is_lstm) inputs.push_back(state(in[c0]));
  while (inputs.back() == graph::absent) inputs.pop_back();
  Attributes attributes{{"hidden_size", hidden}, {"direction", reverse ? "reverse" : "forward"}};
  if (is_gru) attributes.emplace("linear_before_reset", 1);
  if (cell == RnnCell::relu) attributes.emplace("activations", std::vector<std::string>{"Relu"});
  const std::vector<int> made = to.nodes(is_lstm  ? "LSTM"
                                         : is_gru ? "GRU"
                                                  : "RNN",
                                         inputs, attributes, is_lstm ? 3 : 2);
  std::vector<int> results;
  for (std::size_t k = 0; k < made.size(); ++k)
    results.push_back(to.node("Squeeze", {made[k], to.numbers({k == 0 ? 1 : 0})}));
  return results;
}

}  // namespace crisol::onnx
