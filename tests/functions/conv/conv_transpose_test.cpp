// Transposed convolution: values, gradients, refusals; and its layer.
#include <cmath>

#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/nn/conv.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol {

using namespace testing;

namespace {

struct Case {
  Shape x, weight;
  ConvTranspose2dOptions options;
};

const Case cases[] = {
    {{2, 3, 4, 5}, {3, 2, 3, 3}, {}},
    {{1, 4, 5, 3}, {4, 3, 2, 4}, {.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 2}}},
    {{2, 6, 3, 4}, {6, 2, 3, 2}, {.stride = 2, .padding = 1, .output_padding = 1, .dilation = {2, 1}, .groups = 3}},
    {{1, 4, 6, 7}, {4, 1, 3, 3}, {.stride = 2, .padding = 1, .output_padding = 1, .groups = 4}},
    // Output paddings that reach the stride, and are below the dilation.
    {{2, 3, 4, 5}, {3, 2, 3, 2}, {.stride = {1, 2}, .padding = {2, 0}, .output_padding = {1, 2}, .dilation = {2, 3}}},
    {{1, 4, 3, 2}, {4, 2, 2, 3}, {.padding = {0, 1}, .output_padding = {2, 3}, .dilation = {3, 4}, .groups = 2}},
    {{3, 2, 1, 1}, {2, 5, 4, 4}, {}},
    {{1, 16, 8, 8}, {16, 8, 2, 2}, {.stride = 2}},
};

/// Every element of x adds the weights, times itself, to a window of the result.
std::vector<double> expected_of(const Case& c, const std::vector<double>& x, const std::vector<double>& weight,
                                const std::vector<double>& bias, const Shape& y) {
  const auto at = [](const Shape& shape, std::int64_t a, std::int64_t b, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(((a * shape[1] + b) * shape[2] + i) * shape[3] + j);
  };
  const ConvTranspose2dOptions& o = c.options;
  const std::int64_t in_group = c.x[1] / o.groups, out_group = c.weight[1];
  std::vector<double> result(static_cast<std::size_t>(y.numel()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = bias[i / static_cast<std::size_t>(y[2] * y[3]) % bias.size()];
  for (std::int64_t n = 0; n < c.x[0]; ++n)
    for (std::int64_t in = 0; in < c.x[1]; ++in)
      for (std::int64_t k = 0; k < out_group; ++k)
        for (std::int64_t i = 0; i < c.x[2]; ++i)
          for (std::int64_t j = 0; j < c.x[3]; ++j)
            for (std::int64_t r = 0; r < c.weight[2]; ++r)
              for (std::int64_t s = 0; s < c.weight[3]; ++s) {
                const std::int64_t h = i * o.stride.h + r * o.dilation.h - o.padding.h,
                                   w = j * o.stride.w + s * o.dilation.w - o.padding.w;
                if (h < 0 || h >= y[2] || w < 0 || w >= y[3]) continue;
                result[at(y, n, in / in_group * out_group + k, h, w)] +=
                    x[at(c.x, n, in, i, j)] * weight[at(c.weight, in, k, r, s)];
              }
  return result;
}

Shape shape_of(const Case& c) {
  const ConvTranspose2dOptions& o = c.options;
  return {c.x[0], c.weight[1] * o.groups,
          (c.x[2] - 1) * o.stride.h - 2 * o.padding.h + o.dilation.h * (c.weight[2] - 1) + o.output_padding.h + 1,
          (c.x[3] - 1) * o.stride.w - 2 * o.padding.w + o.dilation.w * (c.weight[3] - 1) + o.output_padding.w + 1};
}

}  // namespace

TEST_CASE("conv_transpose2d: strides, paddings, dilations, groups") {
  for (const Case& c : cases) {
    CAPTURE(c.x);
    CAPTURE(c.weight);
    const Shape shape = shape_of(c);
    const auto x = random_values(1, c.x.numel()), weight = random_values(2, c.weight.numel()),
               bias = random_values(3, shape[1]);
    const auto expected = expected_of(c, x, weight, bias, shape);
    const double terms = static_cast<double>(c.weight[2] * c.weight[3] * c.x[1] + 1);
    const Tensor y =
        conv_transpose2d(tensor_of(x, c.x), tensor_of(weight, c.weight), tensor_of(bias, {shape[1]}), c.options);
    check_close(y, shape, expected, {16, terms});
    if (c.x[0] != 1) continue;
    const Tensor single = conv_transpose2d(tensor_of(x, c.x).squeeze(0), tensor_of(weight, c.weight),
                                           tensor_of(bias, {shape[1]}), c.options);
    CHECK(single.dim() == 3);
    check_close(single, expected, {16, terms});
  }
}

TEST_CASE("conv_transpose2d: gradients") {
  for (const Case& c : {cases[1], cases[2], cases[3]}) {
    const Shape shape = shape_of(c);
    check_gradients(
        [&](const std::vector<Tensor>& in) { return conv_transpose2d(in[0], in[1], in[2], c.options).square(); },
        {tensor_of(random_values(4, c.x.numel()), c.x), tensor_of(random_values(5, c.weight.numel()), c.weight),
         tensor_of(random_values(6, shape[1]), {shape[1]})});
  }
}

TEST_CASE("conv_transpose2d refuses what does not fit") {
  const Tensor x = zeros({1, 4, 3, 3}), weight = zeros({4, 2, 3, 3});
  const auto refused = [&](const ConvTranspose2dOptions& o, std::initializer_list<std::string_view> parts) {
    check_error([&] { conv_transpose2d(x, weight, Tensor(), o); }, parts);
  };
  refused({.stride = 0}, {"[conv_transpose2d]", "stride's height is 0"});
  refused({.dilation = {1, 0}}, {"[conv_transpose2d]", "dilation's width is 0"});
  refused({.padding = -1}, {"[conv_transpose2d]", "padding's height is -1"});
  refused({.stride = 2, .output_padding = {0, 2}}, {"[conv_transpose2d]", "output padding's width is 2", "stride 2"});
  refused({.padding = 3}, {"[conv_transpose2d]", "gives an output of height -1"});
  refused({.groups = 3}, {"[conv_transpose2d]", "4 input channels", "3 groups"});
  check_error([&] { conv_transpose2d(Tensor(), weight); }, {"[conv_transpose2d]", "undefined"});
  check_error([&] { conv_transpose2d(zeros({4, 3}), weight); }, {"[conv_transpose2d]", "4 axes", "(4, 3)"});
  check_error([&] { conv_transpose2d(x, zeros({4, 2, 3})); }, {"[conv_transpose2d]", "4 axes", "(4, 2, 3)"});
  check_error([&] { conv_transpose2d(x, zeros({3, 2, 3, 3})); }, {"[conv_transpose2d]", "3 channels", "has 4"});
  check_error([&] { conv_transpose2d(x, weight, zeros({3})); }, {"[conv_transpose2d]", "bias", "(2)", "(3)"});
  check_error([&] { conv_transpose2d(x.to(DType::f16), weight); }, {"[conv_transpose2d]", "f16"});
  check_error([&] { conv_transpose2d(zeros({1, 4, 0, 3}), weight); }, {"[conv_transpose2d]", "input of height 0"});
}

TEST_CASE("nn::ConvTranspose2d: parameters, shapes, text") {
  manual_seed(1);
  nn::ConvTranspose2d up(6, 4, {3, 2}, {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2});
  CHECK(up.weight.shape() == Shape{6, 2, 3, 2});
  CHECK(up.bias.shape() == Shape{4});
  const double bound = 1 / std::sqrt(2.0 * 3 * 2);
  CHECK(up.weight.abs().max().item() <= bound);
  CHECK(up.weight.abs().max().item() > 0.8 * bound);
  CHECK(up(zeros({5, 6, 4, 7})).shape() == Shape{5, 4, 8, 13});
  CHECK(up.extra_repr() == "6, 4, kernel_size=(3, 2), stride=(2, 2), padding=(1, 1), output_padding=(1, 1), groups=2");
  nn::ConvTranspose2d plain(2, 3, 2, {.stride = 2, .bias = false});
  CHECK_FALSE(plain.bias.defined());
  CHECK(plain.extra_repr() == "2, 3, kernel_size=(2, 2), stride=(2, 2), bias=false");
  CHECK(plain.parameters().size() == 1);
  check_error([] { nn::ConvTranspose2d wrong(3, 4, 2, {.groups = 2}); }, {"[ConvTranspose2d]", "3 input", "2 groups"});
}

}  // namespace crisol
