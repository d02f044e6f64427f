// Softmax, normalisations and losses: rows that are reduced.
#include <algorithm>
#include <cmath>

#include "cli/tune/replay.h"
#include "crisol/ops/loss.h"
#include "crisol/ops/norm.h"
#include "crisol/ops/softmax.h"
#include "crisol/random.h"
#include "reference/norm.h"
#include "reference/softmax.h"

namespace crisol::cli::tune {

namespace {

/// (outer, n, inner): rows of n elements, `inner` apart.
struct Layout {
  std::int64_t outer, n, inner;
  Shape shape() const { return {outer, n, inner}; }
};

std::optional<Layout> layout_of(const Problem& p) {
  const std::int64_t rows = p["rows"], step = p["step"];
  if (step < 1 || rows % step != 0) return std::nullopt;
  return Layout{rows / step, p["length"], step};
}

template <bool log>
std::optional<Replay> make_softmax(const Problem& p) {
  const std::optional<Layout> layout = layout_of(p);
  if (!layout) return std::nullopt;
  const Layout l = *layout;
  const Values x = values_for(1, l.shape().numel());
  const Tensor input = tensor_of(x, l.shape());
  Replay replay;
  replay.effort = static_cast<double>(x.size());
  replay.run = [=] { return std::vector<Tensor>{log ? ops::log_softmax(input, 1) : ops::softmax(input, 1)}; };
  replay.reference = [=] {
    return std::vector<Values>{log ? reference::log_softmax(x, l.outer, l.n, l.inner)
                                   : reference::softmax(x, l.outer, l.n, l.inner)};
  };
  replay.tolerance = within(log ? 4 : 16, log ? 12 : 0);
  return replay;
}

template <bool log>
std::optional<Replay> make_softmax_backward(const Problem& p) {
  const std::optional<Layout> layout = layout_of(p);
  if (!layout) return std::nullopt;
  const Layout l = *layout;
  const Values x = values_for(1, l.shape().numel()), dy = values_for(2, l.shape().numel());
  const Values y = reference::values_of(log ? ops::log_softmax(tensor_of(x, l.shape()), 1)
                                            : ops::softmax(tensor_of(x, l.shape()), 1));
  const Tensor result = tensor_of(y, l.shape()), gradient = tensor_of(dy, l.shape());
  Replay replay;
  replay.effort = static_cast<double>(x.size());
  replay.run = [=] {
    return std::vector<Tensor>{log ? ops::log_softmax_backward(gradient, result, 1)
                                   : ops::softmax_backward(gradient, result, 1)};
  };
  replay.reference = [=] {
    return std::vector<Values>{log ? reference::log_softmax_backward(dy, y, l.outer, l.n, l.inner)
                                   : reference::softmax_backward(dy, y, l.outer, l.n, l.inner)};
  };
  replay.tolerance = within(16, 1 + std::sqrt(static_cast<double>(l.n)));
  return replay;
}

constexpr double epsilon = 1e-5;

std::optional<Replay> make_layer_norm(const Problem& p) {
  const std::int64_t rows = p["rows"], n = p["length"];
  if (p["step"] != 1) return std::nullopt;
  const Values x = values_for(1, rows * n), weight = values_for(2, n), bias = values_for(3, n);
  const Tensor input = tensor_of(x, {rows, n}), w = tensor_of(weight, {n}), b = tensor_of(bias, {n});
  Replay replay;
  replay.effort = static_cast<double>(x.size());
  replay.run = [=] { return std::vector<Tensor>{ops::layer_norm(input, {n}, w, b, epsilon).y}; };
  replay.reference = [=] { return std::vector<Values>{reference::layer_norm(x, rows, n, weight, bias, epsilon).y}; };
  // A row of one value has no spread: what rounds then is multiplied by 1 / sqrt(epsilon).
  replay.tolerance = within(16, n < 8 ? 2 / std::sqrt(epsilon) : 16);
  return replay;
}

// Gradients are compared with those of the usual variant; their largest element is what rounds.
std::optional<Replay> make_layer_norm_backward(const Problem& p) {
  const std::int64_t rows = p["rows"], n = p["length"];
  if (p["step"] != 1) return std::nullopt;
  const Tensor x = tensor_of(values_for(1, rows * n), {rows, n}), dy = tensor_of(values_for(2, rows * n), {rows, n});
  const Tensor w = tensor_of(values_for(3, n), {n}), b = tensor_of(values_for(4, n), {n});
  const ops::LayerNormResult forward = ops::layer_norm(x, {n}, w, b, epsilon);
  Replay replay;
  replay.run = [=] {
    const ops::NormGradients g = ops::layer_norm_backward(dy, x, {n}, w, forward.mean, forward.rstd);
    return std::vector<Tensor>{g.x, g.weight, g.bias};
  };
  replay.tolerance = within(32);
  return replay;
}

/// An image batch and all that its normalisation takes.
struct Images {
  Shape shape, row;
  Tensor x, dy, weight, bias, mean, var;

  explicit Images(const Problem& p)
      : shape{p["images"], p["channels"], p["spatial"]},
        row{p["channels"]},
        x(tensor_of(values_for(1, shape.numel()), shape)),
        dy(tensor_of(values_for(2, shape.numel()), shape)),
        weight(tensor_of(values_for(3, row[0]), row)),
        bias(tensor_of(values_for(4, row[0]), row)),
        mean(zeros(row)),
        var(ones(row)) {}
};

std::optional<Replay> make_batch_norm(const Problem& p) {
  const Images i(p);
  Replay replay;
  replay.effort = static_cast<double>(i.shape.numel());
  replay.run = [=] { return std::vector<Tensor>{ops::batch_norm2d(i.x, i.weight, i.bias, i.mean, i.var).y}; };
  replay.reference = [=] {
    return std::vector<Values>{reference::batch_norm(reference::values_of(i.x), i.shape[0], i.shape[1], i.shape[2],
                                                     reference::values_of(i.weight), reference::values_of(i.bias),
                                                     epsilon)
                                   .y};
  };
  replay.tolerance = within(16, i.shape[0] * i.shape[2] < 8 ? 4 / std::sqrt(epsilon) : 16);
  return replay;
}

std::optional<Replay> make_batch_norm_backward(const Problem& p) {
  const Images i(p);
  const ops::BatchNormResult forward = ops::batch_norm2d(i.x, i.weight, i.bias, i.mean, i.var);
  Replay replay;
  replay.run = [=] {
    const ops::NormGradients g = ops::batch_norm2d_backward(i.dy, i.x, i.weight, forward.mean, forward.invstd, true);
    return std::vector<Tensor>{g.x, g.weight, g.bias};
  };
  replay.tolerance = within(32 + std::sqrt(static_cast<double>(i.shape[0] * i.shape[2])));
  return replay;
}

struct Labelled {
  std::int64_t rows, classes;
  Tensor x, labels;

  explicit Labelled(const Problem& p)
      : rows(p["rows"]),
        classes(p["length"]),
        x(tensor_of(values_for(1, rows * classes), {rows, classes})),
        labels(randint(0, std::max<std::int64_t>(1, classes), {rows})) {}
};

std::optional<Replay> make_cross_entropy(const Problem& p) {
  const Labelled l(p);
  return Replay{.run = [=] { return std::vector<Tensor>{ops::cross_entropy(l.x, l.labels).loss}; },
                .tolerance = within(16)};
}

std::optional<Replay> make_cross_entropy_backward(const Problem& p) {
  const Labelled l(p);
  const ops::CrossEntropyResult forward = ops::cross_entropy(l.x, l.labels);
  return Replay{
      .run = [=] { return std::vector<Tensor>{ops::cross_entropy_backward(ones({}), l.x, l.labels, forward)}; },
      .tolerance = within(32)};
}

std::optional<Replay> make_mse(const Problem& p) {
  const Tensor x = tensor_of(values_for(1, p["length"]), {p["length"]}), target = zeros(x.shape());
  return Replay{.run = [=] { return std::vector<Tensor>{ops::mse_loss(x, target)}; }, .tolerance = within(16)};
}

std::optional<Replay> make_mse_backward(const Problem& p) {
  const Tensor x = tensor_of(values_for(1, p["length"]), {p["length"]}), target = zeros(x.shape());
  return Replay{.run = [=] { return std::vector<Tensor>{ops::mse_loss_backward(ones({}), x, target)}; },
                .tolerance = within(8)};
}

}  // namespace

const std::vector<Maker> row_makers{{"softmax", make_softmax<false>},
                                    {"log_softmax", make_softmax<true>},
                                    {"softmax_backward", make_softmax_backward<false>},
                                    {"log_softmax_backward", make_softmax_backward<true>},
                                    {"layer_norm", make_layer_norm},
                                    {"layer_norm_backward", make_layer_norm_backward},
                                    {"batch_norm2d", make_batch_norm},
                                    {"batch_norm2d_backward", make_batch_norm_backward},
                                    {"cross_entropy", make_cross_entropy},
                                    {"cross_entropy_backward", make_cross_entropy_backward},
                                    {"mse_loss", make_mse},
                                    {"mse_loss_backward", make_mse_backward}};

}  // namespace crisol::cli::tune
