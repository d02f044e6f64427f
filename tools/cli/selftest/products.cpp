// Matrix products and convolutions.
#include <iterator>

#include "cli/selftest/check.h"
#include "crisol/functions/attention.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/view.h"
#include "crisol/tuning.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "reference/matmul.h"
#include "reference/softmax.h"

namespace crisol::cli::selftest {

namespace {

using reference::Conv2dCase;
using reference::random_values;

/// A result is a sum of k products of at most 1.
reference::Tolerance product_tolerance(std::int64_t k) { return {2, static_cast<double>(k + 1)}; }

void check_matmul(Check& check) {
  const struct {
    Shape a, b;
  } cases[] = {{{1, 1}, {1, 1}},          {{1, 300}, {300, 64}},    {{7, 33}, {33, 5}},   {{64, 64}, {64, 64}},
               {{130, 71}, {71, 90}},     {{24, 2000}, {2000, 17}}, {{200, 3}, {3, 200}}, {{3, 5, 4}, {4, 6}},
               {{2, 1, 5, 4}, {3, 4, 6}}, {{2, 40, 8}, {2, 8, 40}}};
  for (const auto& c : cases) {
    const auto a = random_values(1, c.a.numel()), b = random_values(2, c.b.numel());
    const reference::Product expected = reference::matmul(a, c.a, b, c.b);
    check.close(ops::matmul(tensor_of(a, c.a), tensor_of(b, c.b)), expected.shape, expected.values,
                product_tolerance(c.a.back()));
  }
}

void check_transposed(Check& check) {
  const std::int64_t m = 45, n = 38, k = 70;
  const auto a = random_values(3, m * k), b = random_values(4, k * n);
  const reference::Product expected = reference::matmul(a, {m, k}, b, {k, n});
  const Tensor left = tensor_of(a, {m, k}), right = tensor_of(b, {k, n});
  // Makes the same matrix stored in column-major order.
  const auto stored = [](const Tensor& x) { return ops::transpose(ops::transpose(x, 0, 1).contiguous(), 0, 1); };
  for (const Tensor& x : {left, stored(left)})
    for (const Tensor& y : {right, stored(right)})
      check.close(ops::matmul(x, y), expected.shape, expected.values, product_tolerance(k));
}

void check_linear(Check& check) {
  for (const Shape& shape : {Shape{1, 128}, Shape{64, 784}, Shape{2, 3, 7}}) {
    const std::int64_t inputs = shape.back(), outputs = 45;
    const auto x = random_values(5, shape.numel()), w = random_values(6, outputs * inputs);
    const auto bias = random_values(7, outputs);
    const reference::Product expected = reference::linear(x, shape, w, {outputs, inputs}, bias);
    const Tensor weight = tensor_of(w, {outputs, inputs});
    for (int use = 0; use < 3; ++use)  // Packed copies of the weight are made at the second use.
      check.close(ops::linear(tensor_of(x, shape), weight, tensor_of(bias, {outputs})), expected.shape, expected.values,
                  product_tolerance(inputs));
  }
}

void check_attention(Check& check) {
  for (const reference::AttentionSizes& s :
       {reference::AttentionSizes{2, 5, 7, 3, 2}, {6, 33, 65, 16, 40}, {1, 20, 530, 9, 5}, {3, 70, 40, 32, 100}}) {
    const auto q = random_values(12, s.heads * s.rows * s.depth), k = random_values(13, s.heads * s.keys * s.depth),
               v = random_values(14, s.heads * s.keys * s.columns), bias = random_values(15, s.heads * s.rows * s.keys);
    check.close(
        scaled_dot_product_attention(tensor_of(q, {s.heads, s.rows, s.depth}), tensor_of(k, {s.heads, s.keys, s.depth}),
                                     tensor_of(v, {s.heads, s.keys, s.columns}),
                                     tensor_of(bias, {s.heads, s.rows, s.keys}), {.scale = 0.5}),
        {s.heads, s.rows, s.columns}, reference::attention(q, k, v, bias, s, 0.5), {64, 1});
  }
}

template <class Body>
void for_each_convolution(Body body) {
  for (const Conv2dCase& c : reference::small_conv2d_cases) body(c, reference::conv2d_shape(c.x, c.weight, c.options));
  // Only every third of the large cases, because their references take long.
  for (std::size_t i = 0; i < std::size(reference::large_conv2d_cases); i += 3) {
    const Conv2dCase& c = reference::large_conv2d_cases[i];
    body(c, reference::conv2d_shape(c.x, c.weight, c.options));
  }
}

reference::Tolerance tolerance(ops::Conv2dPass pass, const Conv2dCase& c, std::int64_t terms) {
  constexpr const char* names[] = {"conv2d", "conv2d_backward_data", "conv2d_backward_weight"};
  const std::string variant = ops::conv2d_choice(pass, c.x, c.weight, c.options).variant;
  return reference::conv2d_tolerance(terms, variant_growth(names[static_cast<int>(pass)], variant));
}

void check_conv2d(Check& check) {
  for_each_convolution([&](const Conv2dCase& c, const Shape& y) {
    const auto x = random_values(1, c.x.numel()), w = random_values(2, c.weight.numel());
    const auto bias = random_values(3, c.weight[0]);
    check.close(ops::conv2d(tensor_of(x, c.x), tensor_of(w, c.weight), tensor_of(bias, {c.weight[0]}), c.options), y,
                reference::conv2d(x, c.x, w, c.weight, bias, c.options),
                tolerance(ops::Conv2dPass::forward, c, c.weight.numel() / c.weight[0] + 1));
  });
}

void check_conv2d_data(Check& check) {
  for_each_convolution([&](const Conv2dCase& c, const Shape& y) {
    const auto dy = random_values(4, y.numel()), w = random_values(5, c.weight.numel());
    check.close(
        ops::conv2d_backward_data(tensor_of(dy, y), tensor_of(w, c.weight), c.x, c.options), c.x,
        reference::conv2d_backward_data(dy, w, c.weight, c.x, c.options),
        tolerance(ops::Conv2dPass::backward_data, c, c.weight[0] / c.options.groups * c.weight[2] * c.weight[3]));
  });
}

void check_conv2d_weight(Check& check) {
  for_each_convolution([&](const Conv2dCase& c, const Shape& y) {
    const auto dy = random_values(6, y.numel()), x = random_values(7, c.x.numel());
    check.close(ops::conv2d_backward_weight(tensor_of(dy, y), tensor_of(x, c.x), c.weight, c.options), c.weight,
                reference::conv2d_backward_weight(dy, x, c.x, c.weight, c.options),
                tolerance(ops::Conv2dPass::backward_weight, c, y[0] * y[2] * y[3]));
  });
}

void check_conv3d(Check& check) {
  for (const reference::Conv3dCase& c : reference::conv3d_cases) {
    const Shape y = reference::conv3d_shape(c.x, c.weight, c.options);
    const auto x = random_values(8, c.x.numel()), w = random_values(9, c.weight.numel());
    const auto bias = random_values(10, c.weight[0]), dy = random_values(11, y.numel());
    const std::int64_t depth = c.weight.numel() / c.weight[0], taps = c.weight[2] * c.weight[3] * c.weight[4];
    const Tensor images = tensor_of(x, c.x), weight = tensor_of(w, c.weight), gradient = tensor_of(dy, y);
    check.close(ops::conv3d(images, weight, tensor_of(bias, {c.weight[0]}), c.options), y,
                reference::conv3d(x, c.x, w, c.weight, bias, c.options), reference::conv3d_tolerance(depth + 1));
    check.close(ops::conv3d_backward_data(gradient, weight, c.x, c.options), c.x,
                reference::conv3d_backward_data(dy, w, c.weight, c.x, c.options),
                reference::conv3d_tolerance(c.weight[0] / c.options.groups * taps));
    check.close(ops::conv3d_backward_weight(gradient, images, c.weight, c.options), c.weight,
                reference::conv3d_backward_weight(dy, x, c.x, c.weight, c.options),
                reference::conv3d_tolerance(y.numel() / y[1]));
  }
}

}  // namespace

std::vector<Op> products() {
  return {{"matmul", check_matmul},
          {"matmul_transposed", check_transposed},
          {"linear", check_linear},
          {"attention", check_attention},
          {"conv2d", check_conv2d},
          {"conv2d_backward_data", check_conv2d_data},
          {"conv2d_backward_weight", check_conv2d_weight},
          {"conv3d", check_conv3d}};
}

}  // namespace crisol::cli::selftest
