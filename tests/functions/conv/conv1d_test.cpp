// Convolutions of sequences: values, gradients, epilogues, refusals; and their layers.
#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;

namespace {

struct Case {
  Shape x, weight;
  Conv1dOptions options;
};

const Case cases[] = {
    {{2, 3, 9}, {4, 3, 3}, {}},
    {{3, 4, 11}, {6, 2, 4}, {.stride = 2, .padding = 3, .groups = 2}},
    {{1, 5, 17}, {5, 1, 3}, {.padding = 2, .dilation = 2, .groups = 5}},
    {{2, 20, 33}, {17, 20, 1}, {}},
    {{1, 2, 300}, {3, 2, 25}, {.stride = 4, .padding = 12}},
};

std::int64_t length_of(const Case& c) {
  const Conv1dOptions& o = c.options;
  return (c.x[2] + 2 * o.padding - o.dilation * (c.weight[2] - 1) - 1) / o.stride + 1;
}

std::size_t at(const Shape& shape, std::int64_t a, std::int64_t b, std::int64_t i) {
  return static_cast<std::size_t>((a * shape[1] + b) * shape[2] + i);
}

/// The sums of conv1d() in double.
std::vector<double> expected_of(const Case& c, const std::vector<double>& x, const std::vector<double>& weight,
                                const std::vector<double>& bias) {
  const Conv1dOptions& o = c.options;
  const Shape shape{c.x[0], c.weight[0], length_of(c)};
  std::vector<double> y(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t k = 0; k < shape[1]; ++k)
      for (std::int64_t i = 0; i < shape[2]; ++i) {
        double sum = bias[static_cast<std::size_t>(k)];
        const std::int64_t first = k / (c.weight[0] / o.groups) * c.weight[1];
        for (std::int64_t in = 0; in < c.weight[1]; ++in)
          for (std::int64_t s = 0; s < c.weight[2]; ++s) {
            const std::int64_t place = i * o.stride + s * o.dilation - o.padding;
            if (place >= 0 && place < c.x[2]) sum += x[at(c.x, n, first + in, place)] * weight[at(c.weight, k, in, s)];
          }
        y[at(shape, n, k, i)] = sum;
      }
  return y;
}

struct Operands {
  std::vector<double> x, weight, bias;
  Tensor tx, tw, tb;

  explicit Operands(const Case& c)
      : x(random_values(1, c.x.numel())),
        weight(random_values(2, c.weight.numel())),
        bias(random_values(3, c.weight[0])),
        tx(tensor_of(x, c.x)),
        tw(tensor_of(weight, c.weight)),
        tb(tensor_of(bias, {c.weight[0]})) {}
};

}  // namespace

TEST_CASE("conv1d: strides, paddings, dilations, groups, epilogues") {
  const auto doubled = fuse([](const Expr& y) { return relu(y) * 2; });
  const auto scaled = fuse([](const Expr& y, const Expr& scale) { return y * scale; });
  for (const Case& c : cases) {
    CAPTURE(c.x);
    CAPTURE(c.weight);
    const Operands in(c);
    std::vector<double> expected = expected_of(c, in.x, in.weight, in.bias);
    const Shape shape{c.x[0], c.weight[0], length_of(c)};
    const Tolerance rounding{16, static_cast<double>(c.weight[1] * c.weight[2] + 1)};
    check_close(conv1d(in.tx, in.tw, in.tb, c.options), shape, expected, rounding);
    if (c.x[0] == 1) {
      const Tensor single = conv1d(in.tx.squeeze(0), in.tw, in.tb, c.options);
      CHECK(single.dim() == 2);
      check_close(single, expected, rounding);
    }
    // An operand of the epilogue for each place of the result has no image with one row, a number has.
    const Tensor places = tensor_of(random_values(4, shape.numel()), shape);
    check_close(conv1d(in.tx, in.tw, in.tb, c.options, scaled.epilogue(places)),
                values_of(conv1d(in.tx, in.tw, in.tb, c.options) * places), {4, 1});
    for (double& y : expected) y = 2 * std::max(y, 0.0);
    check_close(conv1d(in.tx, in.tw, in.tb, c.options, doubled.epilogue()), shape, expected, rounding);
  }
}

TEST_CASE("conv1d and conv_transpose1d: gradients; one is the other's") {
  for (const Case& c : {cases[0], cases[1], cases[2]}) {
    CAPTURE(c.x);
    const Operands in(c);
    check_gradients([&](const std::vector<Tensor>& t) { return conv1d(t[0], t[1], t[2], c.options).square(); },
                    {in.tx, in.tw, in.tb});
    const Tensor dy =
        tensor_of(random_values(5, c.x[0] * c.weight[0] * length_of(c)), {c.x[0], c.weight[0], length_of(c)});
    const Conv1dOptions& o = c.options;
    const std::int64_t without = (length_of(c) - 1) * o.stride - 2 * o.padding + o.dilation * (c.weight[2] - 1) + 1;
    const ConvTranspose1dOptions up{.stride = o.stride,
                                    .padding = o.padding,
                                    .output_padding = static_cast<int>(c.x[2] - without),
                                    .dilation = o.dilation,
                                    .groups = o.groups};
    Tensor x = in.tx.clone().requires_grad_();
    conv1d(x, in.tw, Tensor(), o).backward(dy);
    const Tensor bias = tensor_of(random_values(6, c.x[1]), {c.x[1]});
    check_close(conv_transpose1d(dy, in.tw, bias, up), c.x, values_of(x.grad() + bias.unsqueeze(1)), {64, 1});
    check_close(conv_transpose1d(dy[0], in.tw, bias, up), values_of((x.grad() + bias.unsqueeze(1))[0]), {64, 1});
    check_gradients([&](const std::vector<Tensor>& t) { return conv_transpose1d(t[0], t[1], t[2], up).square(); },
                    {dy, in.tw, bias});
  }
}

TEST_CASE("conv1d and conv_transpose1d refuse what does not fit") {
  const Tensor x = zeros({1, 4, 5}), weight = zeros({6, 2, 3}), up = zeros({4, 2, 3});
  check_error([&] { conv1d(x, weight, {}, {.stride = 0, .groups = 2}); }, {"[conv1d]", "stride"});
  check_error([&] { conv1d(x, weight, {}, {.padding = -1, .groups = 2}); }, {"[conv1d]", "padding"});
  check_error([&] { conv1d(x, weight, {}, {.dilation = 3, .groups = 2}); }, {"[conv1d]", "length"});
  check_error([&] { conv1d(x, weight); }, {"[conv1d]", "channels"});
  check_error([&] { conv1d(x, weight, zeros({5}), {.groups = 2}); }, {"[conv1d]", "bias", "(6)", "(5)"});
  check_error([&] { conv1d(zeros({1, 4, 5, 1}), weight); }, {"[conv1d]", "3 axes", "(1, 4, 5, 1)"});
  check_error([&] { conv1d(x, zeros({6, 4})); }, {"[conv1d]", "3 axes", "(6, 4)"});
  check_error([&] { conv1d(Tensor(), weight); }, {"[conv1d]", "undefined"});
  check_error([&] { conv1d(x.to(DType::i64), weight); }, {"[conv1d]", "i64"});
  check_error([&] { conv_transpose1d(x, up, {}, {.output_padding = 1}); }, {"[conv_transpose1d]", "length is 1"});
  check_error([&] { conv_transpose1d(x, up, {}, {.padding = 4}); }, {"[conv_transpose1d]", "output of length -1"});
  check_error([&] { conv_transpose1d(x, zeros({3, 2, 3})); }, {"[conv_transpose1d]", "3 channels", "has 4"});
  check_error([&] { conv_transpose1d(zeros({4}), up); }, {"[conv_transpose1d]", "3 axes", "(4)"});
}

TEST_CASE("Conv1d and ConvTranspose1d: parameters, values, text, refusals") {
  manual_seed(1);
  const Tensor x = randn({2, 4, 15});
  const Conv1dOptions options{.stride = 2, .padding = 1, .dilation = 2, .groups = 2};
  nn::Conv1d conv(4, 6, 3, options);
  CHECK(conv.weight.shape() == Shape{6, 2, 3});
  CHECK(conv(x).to_vector<float>() == conv1d(x, conv.weight, conv.bias, options).to_vector<float>());
  check_close(conv(x, relu_epilogue()), values_of(relu(conv(x))), {4, 1});
  CHECK(conv.extra_repr() == "4, 6, kernel_size=(3), stride=(2), padding=(1), dilation=(2), groups=2");
  nn::ConvTranspose1d up(6, 4, 3, {.stride = 2, .output_padding = 1, .bias = false});
  CHECK(up.weight.shape() == Shape{6, 4, 3});
  CHECK_FALSE(up.bias.defined());
  CHECK(up(zeros({2, 6, 5})).shape() == Shape{2, 4, 12});
  CHECK(up.extra_repr() == "6, 4, kernel_size=(3), stride=(2), output_padding=(1), bias=false");
  check_error([] { nn::Conv1d(1, 1, 0); }, {"[Conv1d]", "kernel (0)", "must be positive"});
  check_error([] { nn::ConvTranspose1d(6, 4, 3, {.groups = 3}); }, {"[ConvTranspose1d]", "6 input and 4 output"});
}

}  // namespace crisol
