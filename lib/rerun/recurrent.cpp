// Recurrent layers.
#include <cmath>

#include "crisol/ops/rnn.h"
#include "reference/rnn.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

/// A layer without a projection, whose sequences all have the same length.
struct Layer {
  RnnInput input;
  RnnWeights weights;
  RnnOptions options;
  reference::RnnLayer sizes;
  reference::RnnInputs inputs;
  reference::RnnNumbers numbers;
  double terms;  ///< The number of terms in the sums of one step, plus the number of terms in the sums over all steps.

  explicit Layer(const Problem& p) {
    options = {static_cast<RnnCell>(p["cell"]), p["reverse"] != 0};
    const std::int64_t t = p["t"], b = p["b"], i = p["i"], h = p["h"], rows = gates_of(options.cell) * h;
    // The weights are as large as the initial weights of a network, so that the states do not saturate.
    const auto weight = [&](std::uint64_t seed, const Shape& shape, Values& values) {
      const double bound = 1 / std::sqrt(static_cast<double>(h));
      values = reference::random_values(seed, shape.numel(), -bound, bound);
      return p.stored(values, shape);
    };
    sizes = {options.cell, options.reverse, t, b, i, h};
    inputs.x = values_for(1, t * b * i);
    inputs.h0 = values_for(7, b * h);
    if (options.cell == RnnCell::lstm) inputs.c0 = values_for(8, b * h);
    input = {p.stored(inputs.x, {t, b, i}), p.stored(inputs.h0, {b, h}),
             inputs.c0.empty() ? Tensor() : p.stored(inputs.c0, {b, h}), Tensor()};
    weights.weight_ih = weight(2, {rows, i}, numbers.weight_ih);
    weights.weight_hh = weight(3, {rows, h}, numbers.weight_hh);
    weights.bias_ih = weight(4, {rows}, numbers.bias_ih);
    weights.bias_hh = weight(5, {rows}, numbers.bias_hh);
    terms = static_cast<double>(i + h + t * b);
  }

  double operations() const {
    return static_cast<double>(sizes.steps * sizes.batch) *
           static_cast<double>(numbers.weight_ih.size() + numbers.weight_hh.size());
  }
};

bool can_be_made(const Problem& p) {
  return p["cell"] <= static_cast<std::int64_t>(RnnCell::gru) && p["outputs"] == p["h"] && p["padded"] == 0;
}

std::optional<Rerun> make_forward(const Problem& p) {
  if (!can_be_made(p)) return std::nullopt;
  const Layer l(p);
  return Rerun{.run =
                   [=] {
                     const ops::RnnResult result = ops::rnn_forward(l.input, l.weights, l.options);
                     return std::vector<Tensor>{result.y, result.h_n};
                   },
               .reference =
                   [=] {
                     const reference::RnnOutputs out = reference::rnn_forward(l.sizes, l.inputs, l.numbers);
                     return std::vector<Values>{out.y, out.h_n};
                   },
               .operations = l.operations(),
               .tolerance = within(32 + 4 * std::sqrt(l.terms), 1)};
}

std::optional<Rerun> make_backward(const Problem& p) {
  if (!can_be_made(p)) return std::nullopt;
  const Layer l(p);
  const ops::RnnResult forward = ops::rnn_forward(l.input, l.weights, l.options);
  reference::RnnOutputs dout{values_for(6, forward.y.numel()), values_for(9, forward.h_n.numel()), {}};
  ops::RnnOutputGradients gradients{p.stored(dout.y, forward.y.shape()), p.stored(dout.h_n, forward.h_n.shape()), {}};
  if (l.options.cell == RnnCell::lstm) {
    dout.c_n = values_for(10, forward.h_n.numel());
    gradients.c_n = p.stored(dout.c_n, forward.h_n.shape());
  }
  return Rerun{.run =
                   [=] {
                     const ops::RnnInputGradients g =
                         ops::rnn_backward(gradients, l.input, l.weights, l.options, forward.saved);
                     return std::vector<Tensor>{
                         g.x, g.h0, g.weights.weight_ih, g.weights.weight_hh, g.weights.bias_ih, g.weights.bias_hh};
                   },
               .reference =
                   [=] {
                     const reference::RnnGradients g = reference::rnn_backward(l.sizes, l.inputs, l.numbers, dout);
                     return std::vector<Values>{g.inputs.x,          g.inputs.h0,       g.weights.weight_ih,
                                                g.weights.weight_hh, g.weights.bias_ih, g.weights.bias_hh};
                   },
               .operations = 3 * l.operations(),
               // The tolerance is relative to the largest gradient. If that gradient is below 1, the bound of
               // docs/tolerances.md is wider.
               .tolerance = within(2 * (64 + 4 * std::sqrt(l.terms)))};
}

void resize_recurrent(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"t", 3}, {"b", 3}, {"i", 11}, {"h", 13}});
  p.values["outputs"] = p["h"];
  p.values["padded"] = 0;
}

}  // namespace

const std::vector<Maker> recurrent_makers{{"rnn_forward", make_forward, resize_recurrent},
                                          {"rnn_backward", make_backward, resize_recurrent}};

}  // namespace crisol::rerun
