// Softmax, normalisations and losses: rows that are reduced.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "crisol/ops/loss.h"
#include "crisol/ops/norm.h"
#include "crisol/ops/softmax.h"
#include "reference/loss.h"
#include "reference/norm.h"
#include "reference/softmax.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

/// (outer, n, inner): the rows have n elements, and neighbouring elements of a row are `inner` apart.
struct Layout {
  std::int64_t outer, n, inner;
  Shape shape() const { return {outer, n, inner}; }
};

std::optional<Layout> layout_of(const Problem& p) {
  const std::int64_t rows = p["rows"], step = p["step"];
  if (step < 1 || rows % step != 0) return std::nullopt;
  return Layout{rows / step, p["length"], step};
}

/// Values in the range of a network's scores, so that exponentials differ as they do in networks.
Values scores_for(std::int64_t count) { return reference::random_values(1, count, -6, 6); }

template <bool log>
std::optional<Rerun> make_softmax(const Problem& p) {
  const std::optional<Layout> layout = layout_of(p);
  if (!layout) return std::nullopt;
  const Layout l = *layout;
  Values x = scores_for(l.shape().numel());
  const Tensor input = p.stored(x, l.shape());
  Rerun rerun;
  rerun.operations = static_cast<double>(x.size());
  rerun.run = [=] { return std::vector<Tensor>{log ? ops::log_softmax(input, 1) : ops::softmax(input, 1)}; };
  rerun.reference = [=] {
    return std::vector<Values>{log ? reference::log_softmax(x, l.outer, l.n, l.inner)
                                   : reference::softmax(x, l.outer, l.n, l.inner)};
  };
  rerun.tolerance = within(log ? 4 : 16, log ? 12 : 0);
  return rerun;
}

template <bool log>
std::optional<Rerun> make_softmax_backward(const Problem& p) {
  const std::optional<Layout> layout = layout_of(p);
  if (!layout) return std::nullopt;
  const Layout l = *layout;
  const Values x = values_for(1, l.shape().numel());
  Values dy = values_for(2, l.shape().numel());
  Values y = log ? reference::log_softmax(x, l.outer, l.n, l.inner) : reference::softmax(x, l.outer, l.n, l.inner);
  for (double& value : y) value = static_cast<float>(value);
  const Tensor result = p.stored(y, l.shape()), gradient = p.stored(dy, l.shape());
  Rerun rerun;
  rerun.operations = static_cast<double>(x.size());
  rerun.run = [=] {
    return std::vector<Tensor>{log ? ops::log_softmax_backward(gradient, result, 1)
                                   : ops::softmax_backward(gradient, result, 1)};
  };
  rerun.reference = [=] {
    return std::vector<Values>{log ? reference::log_softmax_backward(dy, y, l.outer, l.n, l.inner)
                                   : reference::softmax_backward(dy, y, l.outer, l.n, l.inner)};
  };
  rerun.tolerance = within(16, 1 + std::sqrt(static_cast<double>(l.n)));
  return rerun;
}

constexpr double epsilon = 1e-5;

/// 1 / sqrt(variance + epsilon)
Values inverse_roots(Values variances) {
  for (double& value : variances) value = 1 / std::sqrt(value + epsilon);
  return variances;
}

std::optional<Rerun> make_layer_norm(const Problem& p) {
  const std::int64_t rows = p["rows"], n = p["length"];
  if (p["step"] != 1) return std::nullopt;
  Values x = values_for(1, rows * n);
  Values weight = values_for(2, n), bias = values_for(3, n);
  const Tensor input = p.stored(x, {rows, n}), w = p.stored(weight, {n}, 1), b = p.stored(bias, {n}, 1);
  Rerun rerun;
  rerun.operations = static_cast<double>(x.size());
  rerun.run = [=] { return std::vector<Tensor>{ops::layer_norm(input, {n}, w, b, epsilon).y}; };
  rerun.reference = [=] { return std::vector<Values>{reference::layer_norm(x, rows, n, weight, bias, epsilon).y}; };
  // A row of one value has variance zero, so its rounding error is multiplied by 1 / sqrt(epsilon).
  rerun.tolerance = within(16, n < 8 ? 2 / std::sqrt(epsilon) : 16);
  return rerun;
}

// The tolerance is relative to the largest element of a gradient.
std::optional<Rerun> make_layer_norm_backward(const Problem& p) {
  const std::int64_t rows = p["rows"], n = p["length"];
  if (p["step"] != 1) return std::nullopt;
  Values xs = values_for(1, rows * n), dys = values_for(2, rows * n);
  Values ws = values_for(3, n);
  const Tensor x = p.stored(xs, {rows, n}), dy = p.stored(dys, {rows, n}), w = p.stored(ws, {n}, 1);
  const reference::NormForward f = reference::layer_norm(xs, rows, n, ws, ws, epsilon);
  const Tensor mean = p.tensor(f.mean, {rows}), rstd = p.tensor(inverse_roots(f.var), {rows});
  Rerun rerun;
  rerun.operations = static_cast<double>(xs.size());
  rerun.run = [=] {
    const ops::NormGradients g = ops::layer_norm_backward(dy, x, {n}, w, mean, rstd);
    return std::vector<Tensor>{g.x, g.weight, g.bias};
  };
  rerun.reference = [=] {
    const reference::NormBackward g = reference::layer_norm_backward(dys, xs, rows, n, ws, epsilon);
    return std::vector<Values>{g.dx, g.dweight, g.dbias};
  };
  rerun.tolerance = within(32, n < 8 ? 2 / std::sqrt(epsilon) : 0);
  return rerun;
}

Tensor stored_values(const Problem& p, std::uint64_t seed, const Shape& shape, int place = 0) {
  Values values = values_for(seed, shape.numel());
  return p.stored(values, shape, place);
}

/// A batch of images and the other operands of its normalisation.
struct NormImages {
  Shape shape, row;
  Tensor x, dy, weight, bias, mean, var;

  explicit NormImages(const Problem& p)
      : shape{p["images"], p["channels"], p["spatial"]},
        row{p["channels"]},
        x(stored_values(p, 1, shape)),
        dy(stored_values(p, 2, shape)),
        weight(stored_values(p, 3, row, 1)),
        bias(stored_values(p, 4, row, 1)),
        mean(zeros(row, weight.dtype(), p.device)),
        var(ones(row, weight.dtype(), p.device)) {}
};

std::optional<Rerun> make_batch_norm(const Problem& p) {
  const NormImages i(p);
  Rerun rerun;
  rerun.operations = static_cast<double>(i.shape.numel());
  rerun.run = [=] { return std::vector<Tensor>{ops::batch_norm2d(i.x, i.weight, i.bias, i.mean, i.var).y}; };
  rerun.reference = [=] {
    return std::vector<Values>{reference::batch_norm(reference::values_of(i.x), i.shape[0], i.shape[1], i.shape[2],
                                                     reference::values_of(i.weight), reference::values_of(i.bias),
                                                     epsilon)
                                   .y};
  };
  rerun.tolerance = within(16, i.shape[0] * i.shape[2] < 8 ? 4 / std::sqrt(epsilon) : 16);
  return rerun;
}

std::optional<Rerun> make_batch_norm_backward(const Problem& p) {
  const NormImages i(p);
  const reference::NormForward f =
      reference::batch_norm(reference::values_of(i.x), i.shape[0], i.shape[1], i.shape[2],
                            reference::values_of(i.weight), reference::values_of(i.bias), epsilon);
  const Tensor mean = p.tensor(f.mean, i.row), invstd = p.tensor(inverse_roots(f.var), i.row);
  Rerun rerun;
  rerun.operations = static_cast<double>(i.shape.numel());
  rerun.run = [=] {
    const ops::NormGradients g = ops::batch_norm2d_backward(i.dy, i.x, i.weight, mean, invstd, true);
    return std::vector<Tensor>{g.x, g.weight, g.bias};
  };
  rerun.reference = [=] {
    const Values x = reference::values_of(i.x), weight = reference::values_of(i.weight);
    const reference::NormBackward g = reference::batch_norm_backward(
        reference::values_of(i.dy), x, i.shape[0], i.shape[1], i.shape[2], weight, f.mean, f.var, epsilon, false);
    return std::vector<Values>{g.dx, g.dweight, g.dbias};
  };
  const std::int64_t count = i.shape[0] * i.shape[2];
  rerun.tolerance = within(32 + std::sqrt(static_cast<double>(count)), count < 8 ? 2 / std::sqrt(epsilon) : 0);
  return rerun;
}

struct Labelled {
  std::int64_t rows, classes;
  Values scores;
  std::vector<std::int64_t> classes_of_rows;
  Tensor x, labels;

  explicit Labelled(const Problem& p) : rows(p["rows"]), classes(p["length"]), scores(scores_for(rows * classes)) {
    const Values drawn = reference::random_integers(2, rows, 0, std::max<std::int64_t>(0, classes - 1));
    classes_of_rows.assign(drawn.begin(), drawn.end());
    x = p.stored(scores, {rows, classes});
    labels = p.tensor(drawn, {rows}, DType::i64);
  }
  reference::LossWithGradient expected() const {
    return reference::cross_entropy(scores, classes_of_rows, classes, {}, {1});
  }
};

std::optional<Rerun> make_cross_entropy(const Problem& p) {
  const Labelled l(p);
  return Rerun{.run = [=] { return std::vector<Tensor>{ops::cross_entropy(l.x, l.labels).loss}; },
               .reference = [=] { return std::vector<Values>{l.expected().loss}; },
               .operations = static_cast<double>(l.scores.size()),
               .tolerance = within(16)};
}

std::optional<Rerun> make_cross_entropy_backward(const Problem& p) {
  const Labelled l(p);
  // For each row: the maximum m, and log sum exp(x - m).
  Values moments;
  for (std::int64_t row = 0; row < l.rows; ++row) {
    const auto first = l.scores.begin() + row * l.classes;
    const double m = *std::max_element(first, first + l.classes);
    moments.push_back(m);
    moments.push_back(std::log(
        std::accumulate(first, first + l.classes, 0.0, [m](double sum, double x) { return sum + std::exp(x - m); })));
  }
  const ops::CrossEntropyResult forward{
      {}, p.tensor(moments, {l.rows, 2}), p.tensor({1 / static_cast<double>(l.rows)}, {})};
  const Tensor one = ones({}, DType::f32, p.device);
  return Rerun{.run = [=] { return std::vector<Tensor>{ops::cross_entropy_backward(one, l.x, l.labels, forward)}; },
               .reference = [=] { return std::vector<Values>{l.expected().dx}; },
               .operations = static_cast<double>(l.scores.size()),
               .tolerance = within(32)};
}

struct Compared {
  Values values, targets;
  Tensor x, target, one;

  explicit Compared(const Problem& p)
      : values(values_for(1, p["length"])),
        targets(values_for(2, p["length"])),
        x(p.stored(values, {p["length"]})),
        target(p.stored(targets, {p["length"]})),
        one(ones({}, DType::f32, p.device)) {}
  reference::LossWithGradient expected() const { return reference::mse_loss(values, targets, Reduction::mean, {1}); }
};

std::optional<Rerun> make_mse(const Problem& p) {
  const Compared c(p);
  return Rerun{.run = [=] { return std::vector<Tensor>{ops::mse_loss(c.x, c.target)}; },
               .reference = [=] { return std::vector<Values>{c.expected().loss}; },
               .operations = static_cast<double>(c.values.size()),
               .tolerance = within(16)};
}

std::optional<Rerun> make_mse_backward(const Problem& p) {
  const Compared c(p);
  return Rerun{.run = [=] { return std::vector<Tensor>{ops::mse_loss_backward(c.one, c.x, c.target)}; },
               .reference = [=] { return std::vector<Values>{c.expected().dx}; },
               .operations = static_cast<double>(c.values.size()),
               .tolerance = within(8)};
}

void resize_rows(Problem& p, const Sizes& sizes) {
  const std::int64_t step = std::max<std::int64_t>(1, p["step"]);
  p.values["step"] = sizes.of(step, 3);
  p.values["rows"] = p["step"] * sizes.of(p["rows"] / step, 5);
  resize(p, sizes, {{"length", 67}});
}

void resize_images(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"images", 3}, {"channels", 5}, {"spatial", 35}});
}

}  // namespace

const std::vector<Maker> row_makers{{"softmax", make_softmax<false>, resize_rows},
                                    {"log_softmax", make_softmax<true>, resize_rows},
                                    {"softmax_backward", make_softmax_backward<false>, resize_rows},
                                    {"log_softmax_backward", make_softmax_backward<true>, resize_rows},
                                    {"layer_norm", make_layer_norm, resize_rows},
                                    {"layer_norm_backward", make_layer_norm_backward, resize_rows},
                                    {"batch_norm2d", make_batch_norm, resize_images},
                                    {"batch_norm2d_backward", make_batch_norm_backward, resize_images},
                                    {"cross_entropy", make_cross_entropy, resize_rows},
                                    {"cross_entropy_backward", make_cross_entropy_backward, resize_rows},
                                    {"mse_loss", make_mse, resize_rows},
                                    {"mse_loss_backward", make_mse_backward, resize_rows}};

}  // namespace crisol::rerun
