// Differentiable convolution of volumes, and its transpose.
#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "doctest/doctest.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/random_tensor.h"

namespace crisol {

using namespace testing;

namespace {

struct Transposed {
  Shape x, weight, y;
  ConvTranspose3dOptions options;
};

const Transposed transposed[] = {
    {{2, 3, 2, 4, 3}, {3, 2, 3, 2, 3}, {2, 2, 4, 5, 5}, {}},
    {{1, 4, 3, 2, 3}, {4, 3, 2, 3, 1}, {1, 3, 9, 5, 3}, {.stride = {3, 2, 1}, .output_padding = {1, 0, 0}}},
    {{2, 4, 3, 3, 2},
     {4, 1, 3, 2, 3},
     {2, 2, 6, 4, 5},
     {.stride = 2, .padding = {1, 1, 1}, .output_padding = {1, 0, 0}, .dilation = {1, 1, 2}, .groups = 2}},
    {{1, 2, 4, 3, 3},
     {2, 3, 3, 1, 1},
     {1, 3, 8, 3, 3},
     {.stride = {2, 1, 1}, .padding = {1, 0, 0}, .output_padding = {1, 0, 0}}},
};

Conv3dOptions convolution_of(const ConvTranspose3dOptions& o) {
  return {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
}

}  // namespace

TEST_CASE("conv3d: gradients, and one volume without a batch") {
  for (const std::size_t i : {3, 4, 5, 8, 11}) {
    const reference::Conv3dCase& c = reference::conv3d_cases[i];
    CAPTURE(c.x);
    const Tensor x = random_tensor(1, c.x), weight = random_tensor(2, c.weight), bias = random_tensor(3, {c.weight[0]});
    check_gradients([&](const std::vector<Tensor>& in) { return conv3d(in[0], in[1], in[2], c.options).square(); },
                    {x, weight, bias});
    const Tensor single = conv3d(x.select(0, 0), weight, bias, c.options);
    CHECK(single.to_vector<float>() == conv3d(x.narrow(0, 0, 1), weight, bias, c.options).to_vector<float>());
    CHECK(single.dim() == 4);
  }
  CHECK_FALSE(conv3d(ones({1, 1, 2, 2, 2}), ones({1, 1, 1, 1, 1})).requires_grad());
}

TEST_CASE("conv_transpose3d: values and gradients") {
  for (const Transposed& c : transposed) {
    CAPTURE(c.x);
    CAPTURE(c.weight);
    const auto x = random_values(4, c.x.numel()), weight = random_values(5, c.weight.numel());
    const Tensor bias = random_tensor(6, {c.y[1]});
    const double terms = static_cast<double>(c.x[1] * c.weight[2] * c.weight[3] * c.weight[4] + 1);
    const auto expected = reference::conv3d_backward_data(x, weight, c.weight, c.y, convolution_of(c.options));
    check_close(conv_transpose3d(tensor_of(x, c.x), tensor_of(weight, c.weight), Tensor(), c.options), c.y, expected,
                {16, terms});
    check_gradients(
        [&](const std::vector<Tensor>& in) { return conv_transpose3d(in[0], in[1], in[2], c.options).square(); },
        {tensor_of(x, c.x), tensor_of(weight, c.weight), bias});
    if (c.x[0] == 1)
      check_close(conv_transpose3d(tensor_of(x, c.x).squeeze(0), tensor_of(weight, c.weight), Tensor(), c.options),
                  {c.y[1], c.y[2], c.y[3], c.y[4]}, expected, {16, terms});
  }
}

TEST_CASE("conv_transpose3d adds the bias of each channel, and takes no volumes") {
  CHECK(conv_transpose3d(zeros({0, 2, 3, 3, 3}), zeros({2, 4, 2, 2, 2})).shape() == Shape{0, 4, 4, 4, 4});
  const Tensor y = conv_transpose3d(zeros({1, 2, 1, 1, 2}), ones({2, 2, 1, 1, 1}), tensor_of({3, -4}, {2}));
  check_close(y, {1, 2, 1, 1, 2}, {3, 3, -4, -4}, {0});
}

TEST_CASE("conv_transpose3d refuses what does not fit") {
  const Tensor x = zeros({1, 4, 3, 3, 3}), weight = zeros({4, 2, 3, 3, 3});
  const auto refused = [&](const ConvTranspose3dOptions& o, std::initializer_list<std::string_view> parts) {
    check_error([&] { conv_transpose3d(x, weight, Tensor(), o); }, parts);
  };
  refused({.stride = {0, 1, 1}}, {"[conv_transpose3d]", "stride's depth is 0"});
  refused({.padding = {0, -1, 0}}, {"[conv_transpose3d]", "padding's height is -1"});
  refused({.stride = 2, .output_padding = {2, 0, 0}},
          {"[conv_transpose3d]", "output padding's depth is 2", "stride 2"});
  refused({.padding = 3}, {"[conv_transpose3d]", "gives an output of depth -1"});
  refused({.groups = 3}, {"[conv_transpose3d]", "4 input channels", "3 groups"});
  check_error([&] { conv_transpose3d(zeros({4, 3, 3}), weight); }, {"[conv_transpose3d]", "5 axes (N, C, D, H, W)"});
  check_error([&] { conv_transpose3d(x, zeros({3, 2, 3, 3, 3})); }, {"[conv_transpose3d]", "3 channels", "4"});
  check_error([&] { conv_transpose3d(x, weight, zeros({3})); }, {"[conv_transpose3d]", "bias", "(3)"});
}

}  // namespace crisol
