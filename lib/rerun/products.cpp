// Matrix products and convolutions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/functions/attention.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/matmul.h"
#include "crisol/precision.h"
#include "crisol/tuning.h"
#include "functions/conv/in_blocks.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "reference/matmul.h"
#include "reference/softmax.h"
#include "rerun/rerun.h"

namespace crisol::rerun {

namespace {

constexpr double f32_epsilon = std::numeric_limits<float>::epsilon();

/// A batch of matrices in row-major or column-major order, and the tensor that it is a view of.
struct Matrices {
  Tensor stored, matrix;
  Shape shape;
  Values values;
};

Matrices operand(const Problem& p, std::uint64_t seed, const Shape& shape, bool transposed) {
  Matrices made{{}, {}, shape, values_for(seed, shape.numel())};
  made.stored = p.stored(made.values, shape);
  made.matrix = made.stored;
  if (transposed) {
    made.stored = made.stored.transpose(-2, -1).contiguous();
    made.matrix = made.stored.transpose(-2, -1);
  }
  return made;
}

Precision precision_of(const Problem& p) {
  for (const Precision one : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16})
    if (p["precision"] == static_cast<std::int64_t>(one)) return one;
  throw ProblemError(concat("'", p.text, "': no precision has this number"));
}

/// The bound of crisol/precision.h, in epsilons, for the error of a product whose two operands are rounded.
double rounding_of(Precision precision) {
  const double u = precision == Precision::fp32 ? 0 : std::ldexp(1.0, precision == Precision::bf16 ? -8 : -11);
  return (2 * u + u * u) / f32_epsilon;
}

std::optional<Rerun> make_matmul(const Problem& p) {
  // Only parts of other ops have transposed results.
  if (p["transc"] != 0) return std::nullopt;
  const auto types = p.values.find("types");
  if (types != p.values.end() && types->second % 0x10101 != 0) return std::nullopt;  // C, A and B have several types.
  const std::int64_t m = p["m"], n = p["n"], k = p["k"], batch = p["batch"];
  const Shape lead = batch > 1 ? Shape{batch} : Shape{};
  const auto matrices = [&](std::int64_t rows, std::int64_t columns) {
    Shape shape = lead;
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  const Precision precision = precision_of(p);
  const Matrices a = operand(p, 1, matrices(m, k), p["transa"] != 0);
  Rerun rerun;
  rerun.operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k * batch);
  rerun.tolerance = within(2 + rounding_of(precision), static_cast<double>(k + 1));
  if (p["weight"] == 0) {
    const Matrices b = operand(p, 2, matrices(k, n), p["transb"] != 0);
    rerun.run = [=] {
      const WithPrecision allowed(precision);
      return std::vector<Tensor>{ops::matmul(a.matrix, b.matrix)};
    };
    rerun.reference = [=] {
      return std::vector<Values>{reference::matmul(a.values, a.shape, b.values, b.shape).values};
    };
  } else {
    const Matrices weight = operand(p, 2, {n, k}, p["transb"] == 0);
    Values biases = values_for(3, n);
    const Tensor bias = p.stored(biases, {n});
    rerun.run = [=] {
      const WithPrecision allowed(precision);
      return std::vector<Tensor>{ops::linear(a.matrix, weight.matrix, bias)};
    };
    rerun.renew = [=] { touch(weight.stored); };
    rerun.reference = [=] {
      return std::vector<Values>{reference::linear(a.values, a.shape, weight.values, weight.shape, biases).values};
    };
  }
  return rerun;
}

std::optional<Rerun> make_attention(const Problem& p) {
  const std::int64_t heads = p["heads"], rows = p["rows"], keys = p["keys"], depth = p["depth"], columns = p["columns"];
  const Precision precision = precision_of(p);
  Values q = values_for(1, heads * rows * depth), k = values_for(2, heads * keys * depth),
         v = values_for(3, heads * keys * columns);
  Values bias =
      p["bias"] != 0 ? values_for(4, heads * rows * keys) : Values(static_cast<std::size_t>(heads * rows * keys));
  const Tensor mask = p["bias"] != 0 ? p.tensor(bias, {heads, rows, keys}) : Tensor();
  if (p["causal"] != 0)
    for (std::int64_t i = 0; i < heads * rows; ++i)
      for (std::int64_t j = i % rows + 1; j < keys; ++j)
        bias[static_cast<std::size_t>(i * keys + j)] = -std::numeric_limits<double>::infinity();
  Tensor from_q = p.stored(q, {heads, rows, depth});
  const Tensor from_k = p.stored(k, {heads, keys, depth}), from_v = p.stored(v, {heads, keys, columns});
  if (p["grad"] != 0) from_q.requires_grad_();
  Rerun rerun;
  rerun.operations = static_cast<double>(heads * rows) * static_cast<double>(keys * (depth + columns));
  rerun.run = [=, options = AttentionOptions{.is_causal = p["causal"] != 0, .scale = 1}] {
    const WithPrecision allowed(precision);
    return std::vector<Tensor>{scaled_dot_product_attention(from_q, from_k, from_v, mask, options)};
  };
  rerun.reference = [=] {
    return std::vector<Values>{reference::attention(q, k, v, bias, {heads, rows, keys, depth, columns}, 1)};
  };
  // A score's absolute error becomes a relative error of its weight.
  rerun.tolerance = within((64 + rounding_of(precision)) * static_cast<double>(depth + 1), 1);
  return rerun;
}

struct Convolution {
  std::string op;
  Shape x, weight, y;
  Conv2dOptions options;
  Precision precision;

  explicit Convolution(const Problem& p)
      : op(p.op),
        x{p["n"], p["c"], p["h"], p["w"]},
        weight{p["k"], p["c"] / std::max<std::int64_t>(1, p["groups"]), p["r"], p["s"]},
        options{{p.small("stride_h"), p.small("stride_w")},
                {p.small("pad_h"), p.small("pad_w")},
                {p.small("dil_h"), p.small("dil_w")},
                p.small("groups")},
        precision(precision_of(p)) {
    y = reference::conv2d_shape(x, weight, options);
  }

  /// Makes a rerun of `run`. Each result of `run` is a sum of `terms` products.
  Rerun rerun(std::int64_t terms, std::function<Tensor()> run) const {
    Rerun made;
    made.operations = static_cast<double>(y.numel()) * static_cast<double>(weight[1] * weight[2] * weight[3]);
    made.tolerance = [terms, rounding = rounding_of(precision), op = op](std::string_view variant) {
      reference::Tolerance tolerance = reference::conv2d_tolerance(terms, variant_growth(op, std::string(variant)));
      tolerance.factor += rounding;
      return tolerance;
    };
    made.run = [run = std::move(run), precision = precision] {
      const WithPrecision allowed(precision);
      return std::vector<Tensor>{run()};
    };
    return made;
  }
};

std::optional<Rerun> make_conv2d(const Problem& p) {
  const Convolution c(p);
  Values x = values_for(1, c.x.numel()), w = values_for(2, c.weight.numel()), b = values_for(3, c.weight[0]);
  const Tensor input = p.stored(x, c.x), weight = p.stored(w, c.weight), bias = p.stored(b, {c.weight[0]});
  Rerun rerun =
      c.rerun(c.weight.numel() / c.weight[0] + 1, [=] { return ops::conv2d(input, weight, bias, c.options); });
  rerun.renew = [=] { touch(weight); };
  rerun.reference = [=] { return std::vector<Values>{reference::conv2d(x, c.x, w, c.weight, b, c.options)}; };
  return rerun;
}

/// Turns a problem of channels in blocks into a problem of conv2d: adds "groups" and removes "precision".
Problem as_conv2d(const Problem& blocks) {
  Problem p = blocks;
  p.values["groups"] = blocks["kind"] == 1 ? blocks["c"] : 1;
  p.values["precision"] = 0;
  return p;
}

std::optional<Rerun> make_conv2d_blocks(const Problem& p) {
  const Convolution c(as_conv2d(p));
  Values x = values_for(1, c.x.numel());
  const Values w = values_for(2, c.weight.numel());
  const Tensor input = p.stored(x, c.x), weight = p.tensor(w, c.weight);
  Rerun rerun = c.rerun(c.weight.numel() / c.weight[0], [=, block_in = p["block_in"], block = p["block"]] {
    return detail::block_ops().conv2d(input, weight, c.options, block_in, block);
  });
  rerun.reference = [=] { return std::vector<Values>{reference::conv2d(x, c.x, w, c.weight, {}, c.options)}; };
  return rerun;
}

std::optional<Rerun> make_conv2d_separable(const Problem& p) {
  Problem first = p;
  first.values["kind"] = 1;
  first.values["k"] = p["c"];
  const Convolution c(as_conv2d(first));
  const Shape pointwise{p["k"], p["c"], 1, 1};
  Values x = values_for(1, c.x.numel());
  const Values w = values_for(2, c.weight.numel()), v = values_for(3, pointwise.numel());
  const Tensor input = p.stored(x, c.x), weights = p.tensor(w, c.weight), second = p.tensor(v, pointwise);
  Rerun rerun = c.rerun(c.weight[2] * c.weight[3] + p["c"], [=, block = p["block"]] {
    return detail::block_ops().conv2d_separable(input, weights, second, c.options, block);
  });
  rerun.operations += static_cast<double>(c.y.numel()) * static_cast<double>(p["k"]);
  rerun.reference = [=] {
    const Values between = reference::conv2d(x, c.x, w, c.weight, {}, c.options);
    return std::vector<Values>{reference::conv2d(between, c.y, v, pointwise, {}, {})};
  };
  return rerun;
}

std::optional<Rerun> make_data(const Problem& p) {
  const Convolution c(p);
  Values dy = values_for(1, c.y.numel()), w = values_for(2, c.weight.numel());
  const Tensor gradient = p.stored(dy, c.y), weight = p.stored(w, c.weight);
  Rerun rerun = c.rerun(c.weight[0] / c.options.groups * c.weight[2] * c.weight[3],
                        [=] { return ops::conv2d_backward_data(gradient, weight, c.x, c.options); });
  rerun.renew = [=] { touch(weight); };
  rerun.reference = [=] {
    return std::vector<Values>{reference::conv2d_backward_data(dy, w, c.weight, c.x, c.options)};
  };
  return rerun;
}

std::optional<Rerun> make_weight(const Problem& p) {
  const Convolution c(p);
  Values dy = values_for(1, c.y.numel()), x = values_for(2, c.x.numel());
  const Tensor gradient = p.stored(dy, c.y), input = p.stored(x, c.x);
  Rerun rerun = c.rerun(c.y[0] * c.y[2] * c.y[3],
                        [=] { return ops::conv2d_backward_weight(gradient, input, c.weight, c.options); });
  rerun.reference = [=] {
    return std::vector<Values>{reference::conv2d_backward_weight(dy, x, c.x, c.weight, c.options)};
  };
  return rerun;
}

void resize_matmul(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"m", 37}, {"n", 43}, {"k", 53}, {"batch", 3}});
  p.values["transc"] = 0;
}

void resize_attention(Problem& p, const Sizes& sizes) {
  resize(p, sizes, {{"heads", 3}, {"rows", 37}, {"keys", 43}, {"depth", 21}, {"columns", 19}});
}

// Keeps the window, and at least as many pixels as the window needs.
void resize_convolution(Problem& p, const Sizes& sizes) {
  const std::int64_t groups = std::max<std::int64_t>(1, p["groups"]);
  const std::int64_t channels = sizes.of(p["c"] / groups, 9);
  const std::int64_t outputs = sizes.of(p["k"] / groups, 11);
  p.values["groups"] = sizes.of(groups, 3);
  p.values["c"] = p["groups"] * channels;
  p.values["k"] = p["groups"] * outputs;
  const auto resize_axis = [&](const char* size, const char* kernel, const char* dilation, std::int64_t most) {
    const std::int64_t needed = p[dilation] * (p[kernel] - 1) + 2;
    p.values[size] =
        sizes.divisor > 0 ? std::max(sizes.of(2, most), needed) : sizes.of(p[size], std::max(most, needed));
  };
  resize_axis("h", "r", "dil_h", 13);
  resize_axis("w", "s", "dil_w", 17);
  resize(p, sizes, {{"n", 3}});
}

// Makes several blocks, where the last blocks lack channels.
void resize_blocks(Problem& p, const Sizes& sizes) {
  const bool is_depthwise = p["kind"] == 1;
  Problem conv = as_conv2d(p);
  conv.values["groups"] = 1;
  resize_convolution(conv, sizes);
  for (const char* name : {"n", "h", "w"}) p.values[name] = conv[name];
  p.values["c"] = sizes.of(p["c"], 21);
  p.values["k"] = is_depthwise ? p["c"] : sizes.of(p["k"], 35);
  p.values["out_h"] = (p["h"] + 2 * p["pad_h"] - p["dil_h"] * (p["r"] - 1) - 1) / p["stride_h"] + 1;
  p.values["out_w"] = (p["w"] + 2 * p["pad_w"] - p["dil_w"] * (p["s"] - 1) - 1) / p["stride_w"] + 1;
}

void resize_separable(Problem& p, const Sizes& sizes) {
  p.values["kind"] = 0;
  resize_blocks(p, sizes);
  p.values.erase("kind");
}

}  // namespace

const std::vector<Maker> product_makers{{"matmul", make_matmul, resize_matmul},
                                        {"attention", make_attention, resize_attention},
                                        {"conv2d", make_conv2d, resize_convolution},
                                        {"conv2d_blocks", make_conv2d_blocks, resize_blocks},
                                        {"conv2d_separable", make_conv2d_separable, resize_separable},
                                        {"conv2d_backward_data", make_data, resize_convolution},
                                        {"conv2d_backward_weight", make_weight, resize_convolution}};

}  // namespace crisol::rerun
