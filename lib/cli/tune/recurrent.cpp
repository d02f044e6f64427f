// Recurrent layers.
#include <cmath>

#include "cli/tune/replay.h"
#include "crisol/ops/rnn.h"

namespace crisol::cli::tune {

namespace {

/// A layer without projection and with sequences of one length.
struct Layer {
  ops::RnnInput input;
  RnnWeights weights;
  RnnOptions options;
  double terms;  ///< Of the sums in a step, and of those over all steps.

  explicit Layer(const Problem& p) {
    options = {static_cast<RnnCell>(p["cell"]), p["reverse"] != 0};
    const std::int64_t t = p["t"], b = p["b"], i = p["i"], h = p["h"], rows = gates_of(options.cell) * h;
    // As large as a network's at its start, so that the states do not saturate.
    const auto weight = [&](std::uint64_t seed, const Shape& shape) {
      const double bound = 1 / std::sqrt(static_cast<double>(h));
      return tensor_of(reference::random_values(seed, shape.numel(), -bound, bound), shape);
    };
    input.x = tensor_of(values_for(1, t * b * i), {t, b, i});
    weights.weight_ih = weight(2, {rows, i});
    weights.weight_hh = weight(3, {rows, h});
    weights.bias_ih = weight(4, {rows});
    weights.bias_hh = weight(5, {rows});
    terms = static_cast<double>(i + h + t * b);
  }
};

bool can_be_made(const Problem& p) {
  return p["cell"] <= static_cast<std::int64_t>(RnnCell::gru) && p["outputs"] == p["h"] && p["padded"] == 0;
}

std::optional<Replay> make_forward(const Problem& p) {
  if (!can_be_made(p)) return std::nullopt;
  const Layer l(p);
  return Replay{.run =
                    [=] {
                      const ops::RnnResult result = ops::rnn_forward(l.input, l.weights, l.options);
                      return std::vector<Tensor>{result.y, result.h_n};
                    },
                .tolerance = within(32 + 4 * std::sqrt(l.terms))};
}

std::optional<Replay> make_backward(const Problem& p) {
  if (!can_be_made(p)) return std::nullopt;
  const Layer l(p);
  const ops::RnnResult forward = ops::rnn_forward(l.input, l.weights, l.options);
  const ops::RnnOutputGradients dy{tensor_of(values_for(6, forward.y.numel()), forward.y.shape()), {}, {}};
  return Replay{.run =
                    [=] {
                      const ops::RnnInputGradients g =
                          ops::rnn_backward(dy, l.input, l.weights, l.options, forward.saved);
                      return std::vector<Tensor>{g.x, g.weights.weight_ih, g.weights.weight_hh, g.weights.bias_ih};
                    },
                .tolerance = within(64 + 4 * std::sqrt(l.terms))};
}

}  // namespace

const std::vector<Maker> recurrent_makers{{"rnn_forward", make_forward}, {"rnn_backward", make_backward}};

}  // namespace crisol::cli::tune
