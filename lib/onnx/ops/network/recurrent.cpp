// RNN, GRU and LSTM. The library's recurrent functions compute layers of the kinds that PyTorch has. Other layers are
// computed step by step.
#include "crisol/functions/rnn.h"

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/half.h"
#include "onnx/ops/network/gates.h"
#include "onnx/ops/network/kept_weights.h"
#include "onnx/ops/table.h"
#include "onnx/reader/message.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

enum class Kind : std::uint8_t { rnn, gru, lstm };

int gates_of(Kind kind) { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }

/// The attributes of a layer.
struct Layer {
  Layer(Call& call, Kind of) : kind(of) {
    const std::string direction = call.text("direction", "forward");
    // In version 1 of GRU, the default has a spelling mistake.
    require(direction == "forward" || direction == "foward" || direction == "reverse" || direction == "bidirectional",
            "onnx", "direction is ", file::in_quotes(direction), ", forward, reverse or bidirectional expected");
    directions = direction == "bidirectional" ? 2 : 1;
    reverses_first = direction == "reverse";
    if (call.version() < 7) call.integer("output_sequence", 0);  // Ignored: an unused output has no name anyway.
    if (call.version() >= 14) batch_first = call.integer("layout", 0) != 0;
    hidden = call.integer("hidden_size", 0);
    if (call.has("clip")) clip = call.real("clip", 0);
    if (kind == Kind::gru && call.version() >= 3) resets_last = call.integer("linear_before_reset", 0) != 0;
    if (kind == Kind::lstm) couples_gates = call.integer("input_forget", 0) != 0;
    std::vector<std::string> defaults{"Tanh"};
    if (kind == Kind::gru) defaults = {"Sigmoid", "Tanh"};
    if (kind == Kind::lstm) defaults = {"Sigmoid", "Tanh", "Tanh"};
    activations = read_activations(call, defaults, directions);
  }

  /// The library's cell for one direction. Nothing if the library does not have it.
  std::optional<RnnCell> cell(int direction, bool has_peepholes) const {
    if (clip || couples_gates || has_peepholes) return {};
    std::vector<std::string> names;
    for (const GateFunction& a : activations[static_cast<std::size_t>(direction)]) names.push_back(a.name);
    using Names = std::vector<std::string>;
    if (kind == Kind::lstm && names == Names{"Sigmoid", "Tanh", "Tanh"}) return RnnCell::lstm;
    if (kind == Kind::gru && resets_last && names == Names{"Sigmoid", "Tanh"}) return RnnCell::gru;
    if (kind == Kind::rnn && names == Names{"Tanh"}) return RnnCell::tanh;
    if (kind == Kind::rnn && names == Names{"Relu"}) return RnnCell::relu;
    return {};
  }

  Kind kind;
  int directions;
  bool reverses_first;         ///< Whether the first direction runs backwards. The second always does.
  bool batch_first = false;    ///< Whether the batch axis comes before the steps.
  bool resets_last = false;    ///< Whether a GRU multiplies by the reset gate after the product with R.
  bool couples_gates = false;  ///< Whether the forget gate of an LSTM is 1 - the input gate.
  std::int64_t hidden;         ///< 0 if it is not given.
  std::optional<double> clip;
  std::vector<std::vector<GateFunction>> activations;  ///< The activations of each direction.
};

/// The blocks of rows in another order.
Tensor reordered(const Tensor& x, const std::vector<int>& order) {
  if (order.empty() || !x.defined()) return x;
  const std::int64_t rows = x.size(0) / static_cast<std::int64_t>(order.size());
  std::vector<Tensor> blocks;
  for (const int block : order) blocks.push_back(x.narrow(0, block * rows, rows));
  return cat(blocks, 0);
}

/// Converts weights to the library's order of gates.
RnnWeights for_cell(RnnCell cell, const RnnWeights& w) {
  std::vector<int> order;
  if (cell == RnnCell::lstm) order = {0, 2, 3, 1};
  if (cell == RnnCell::gru) order = {1, 0, 2};
  RnnWeights result;
  result.weight_ih = reordered(w.weight_ih, order);
  result.weight_hh = reordered(w.weight_hh, order);
  result.bias_ih = reordered(w.bias_ih, order);
  result.bias_hh = reordered(w.bias_hh, order);
  return result;
}

/// The tensors of a node. The axis of directions comes first, then the steps, then the batch. All are f32, or f64,
/// except for W, R and B. These three are converted when kept weights are made of them.
struct Inputs {
  Inputs(const Layer& layer, const Data& in, Device device) {
    const auto wide = [&](std::size_t i) {
      const Tensor t = input_of(in, i, device);
      return t.defined() ? widened(t) : t;
    };
    x = wide(0);
    w = in[1].tensor(device);
    r = in[2].tensor(device);
    b = input_of(in, 3, device);
    lengths = input_of(in, 4, device);
    h0 = wide(5);
    c0 = wide(6);
    p = wide(7);
    require(x.dim() == 3 && w.dim() == 3 && r.dim() == 3, "onnx", "shapes ", x.shape(), ", ", w.shape(), " and ",
            r.shape(), " of X, W and R, three axes expected");
    const std::int64_t directions = layer.directions, hidden = r.size(2), gates = gates_of(layer.kind);
    require(w.size(0) == directions && w.size(1) == gates * hidden && r.size(0) == directions && r.size(1) == w.size(1),
            "onnx", "W of shape ", w.shape(), " and R of shape ", r.shape(), " for ", directions, " directions and ",
            gates, " gates");
    require(layer.hidden == 0 || layer.hidden == hidden, "onnx", "hidden_size is ", layer.hidden, ", and R has shape ",
            r.shape());
    if (layer.batch_first) {
      x = x.transpose(0, 1);
      for (Tensor* state : {&h0, &c0})
        if (state->defined()) *state = state->transpose(0, 1);
    }
    const auto check = [&](const char* name, const Tensor& t, const Shape& expected) {
      require(!t.defined() || t.shape() == expected, "onnx", name, " has shape ", t.defined() ? t.shape() : Shape(),
              ", ", expected, " expected");
    };
    check("B", b, {directions, 2 * gates * hidden});
    check("sequence_lens", lengths, {x.size(1)});
    check("initial_h", h0, {directions, x.size(1), hidden});
    check("initial_c", c0, {directions, x.size(1), hidden});
    check("P", p, {directions, 3 * hidden});
    if (lengths.defined()) lengths = lengths.to(DType::i64);
  }

  static Tensor part(const Tensor& t, int direction) { return t.defined() ? t.select(0, direction) : t; }

  RnnInput input(int direction) const {
    return {.x = x, .h0 = part(h0, direction), .c0 = part(c0, direction), .lengths = lengths};
  }

  RnnWeights weights(int direction) const {
    RnnWeights weights;
    weights.weight_ih = widened(part(w, direction));
    weights.weight_hh = widened(part(r, direction));
    if (!b.defined()) return weights;
    const std::int64_t rows = w.size(1);
    const Tensor biases = widened(part(b, direction));
    weights.bias_ih = biases.narrow(0, 0, rows);
    weights.bias_hh = biases.narrow(0, rows, rows);
    return weights;
  }

  Tensor x, w, r, b, lengths, h0, c0, p;
};

/// The weights of each direction, in the form that the direction's computation takes.
std::vector<RnnWeights> weights_of(const Layer& layer, const Inputs& inputs) {
  std::vector<RnnWeights> all;
  for (int direction = 0; direction < layer.directions; ++direction) {
    const auto cell = layer.cell(direction, inputs.p.defined());
    all.push_back(cell ? for_cell(*cell, inputs.weights(direction)) : inputs.weights(direction));
  }
  return all;
}

/// The results for a sequence without steps, or for an empty batch.
RnnOutput unchanged(const Inputs& inputs, int direction) {
  const std::int64_t steps = inputs.x.size(0), batch = inputs.x.size(1), hidden = inputs.r.size(2);
  const auto state = [&](const Tensor& given) {
    return given.defined() ? Inputs::part(given, direction)
                           : zeros({batch, hidden}, inputs.x.dtype(), inputs.x.device());
  };
  return {zeros({steps, batch, hidden}, inputs.x.dtype(), inputs.x.device()), state(inputs.h0), state(inputs.c0)};
}

RnnOutput run_direction(const Layer& layer, const Inputs& inputs, const RnnWeights& weights, int direction) {
  const bool reverse = direction == 1 || layer.reverses_first;
  const RnnInput input = inputs.input(direction);
  if (inputs.x.size(0) == 0 || inputs.x.size(1) == 0) return unchanged(inputs, direction);
  if (const auto cell = layer.cell(direction, inputs.p.defined()))
    return rnn(input, weights, {.cell = *cell, .reverse = reverse});
  const std::vector<GateFunction>& f = layer.activations[static_cast<std::size_t>(direction)];
  if (layer.kind == Kind::rnn) return walk(input, weights, reverse, simple_step(weights, f, layer.clip));
  if (layer.kind == Kind::gru)
    return walk(input, weights, reverse, gru_step(weights, f, layer.clip, layer.resets_last));
  return walk(input, weights, reverse,
              lstm_step(weights, Inputs::part(inputs.p, direction), f, layer.clip, layer.couples_gates));
}

/// Joins the results of the directions along a new axis.
Tensor joined(const std::vector<Tensor>& parts, int axis) {
  return parts.size() == 1 ? parts[0].unsqueeze(axis) : stack(parts, axis);
}

template <Kind kind>
Run recurrent(Call& call) {
  const bool is_lstm = kind == Kind::lstm;
  call.check_counts(3, is_lstm ? 8 : 6, is_lstm ? 3 : 2);
  call.all_give_type_of(0);
  const Layer layer(call, kind);
  return [=, kept = std::make_shared<KeptWeights>()](const Data& in, Device device) {
    const Inputs inputs(layer, in, device);
    const DType dtype = in[0].dtype();
    const std::vector<RnnWeights> weights =
        kept->get({in[1].tensor(device), in[2].tensor(device), input_of(in, 3, device)},
                  [&] { return weights_of(layer, inputs); });
    std::vector<Tensor> y, h, c;
    for (int direction = 0; direction < layer.directions; ++direction) {
      const RnnOutput output = run_direction(layer, inputs, weights[static_cast<std::size_t>(direction)], direction);
      y.push_back(output.y);
      h.push_back(output.h_n);
      if (is_lstm) c.push_back(output.c_n);
    }
    const int axis = layer.batch_first ? 1 : 0;
    const Tensor all = layer.batch_first ? joined(y, 2).transpose(0, 1) : joined(y, 1);
    Data results{all.to(dtype), joined(h, axis).to(dtype)};
    if (is_lstm) results.emplace_back(joined(c, axis).to(dtype));
    return results;
  };
}

}  // namespace

std::vector<Row> recurrent_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"GRU", 1, newest, recurrent<Kind::gru>},
      {"LSTM", 1, newest, recurrent<Kind::lstm>},
      {"RNN", 1, newest, recurrent<Kind::rnn>},
  };
}

}  // namespace crisol::onnx
