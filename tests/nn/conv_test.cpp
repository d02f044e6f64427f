// The convolution layer.
#include "crisol/nn/conv.h"

#include <cmath>

#include "crisol/functions/conv.h"
#include "crisol/functions/reduce.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "nn/moments.h"
#include "reference/images/conv2d.h"
#include "support/compare.h"

namespace crisol {

using testing::check_close;
using testing::check_error;
using testing::check_uniform;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

TEST_CASE("Conv2d has PyTorch's parameters") {
  const nn::Conv2d layer(6, 4, {3, 2}, {1, 0, 1, 2}), bare(1, 2, 3, {.bias = false});
  REQUIRE(layer.named_parameters().size() == 2);
  CHECK(layer.named_parameters()[0].first == "weight");
  CHECK(layer.named_parameters()[1].first == "bias");
  CHECK(layer.weight.shape() == Shape{4, 3, 3, 2});
  CHECK(layer.bias.shape() == Shape{4});
  CHECK(bare.parameter_count() == 18);
  CHECK_FALSE(bare.bias.defined());
}

TEST_CASE("Conv2d refuses sizes that make no layer") {
  check_error([] { nn::Conv2d(0, 1, 3); }, {"[Conv2d]", "in_channels 0", "must be positive"});
  check_error([] { nn::Conv2d(1, -2, 3); }, {"[Conv2d]", "out_channels -2", "must be positive"});
  check_error([] { nn::Conv2d(1, 1, {3, 0}); }, {"[Conv2d]", "kernel (3, 0)", "must be positive"});
  check_error([] { nn::Conv2d(6, 4, 3, {1, 0, 1, 3}); }, {"[Conv2d]", "6 input and 4 output", "3 groups"});
  check_error([] { nn::Conv2d(4, 6, 3, {1, 0, 1, 3}); }, {"[Conv2d]", "4 input and 6 output", "3 groups"});
  check_error([] { nn::Conv2d(2, 2, 3, {1, 0, 1, 0}); }, {"[Conv2d]", "0 groups"});
  nn::Conv2d layer(2, 3, 3);
  check_error([&] { layer(ones({1, 3, 5, 5})); }, {"[conv2d]", "3", "2"});
  check_error([&] { layer(ones({1, 2, 2, 5})); }, {"[conv2d]"});
}

TEST_CASE("Conv2d starts uniform in 1 / sqrt(fan_in), fixed by the seed") {
  manual_seed(12);
  const nn::Conv2d layer(8, 200, {3, 2}, {1, 0, 1, 2});  // fan_in 8/2·3·2 = 24, 4,800 weights.
  check_uniform(layer.weight, 1 / std::sqrt(24.0));
  check_uniform(layer.bias, 1 / std::sqrt(24.0));
  manual_seed(12);
  const nn::Conv2d same(8, 200, {3, 2}, {1, 0, 1, 2}), next(8, 200, {3, 2}, {1, 0, 1, 2});
  CHECK(same.weight.to_vector<float>() == layer.weight.to_vector<float>());
  CHECK(same.bias.to_vector<float>() == layer.bias.to_vector<float>());
  CHECK(next.weight.to_vector<float>() != layer.weight.to_vector<float>());
}

TEST_CASE("Conv2d convolves with its options") {
  const Shape shape{2, 4, 7, 6};
  const std::vector<double> x = random_values(1, shape.numel());
  for (Conv2dOptions options : {Conv2dOptions{}, Conv2dOptions{{2, 1}, {0, 1}, {1, 2}, 2}}) {
    for (const bool with_bias : {true, false}) {
      options.bias = with_bias;
      nn::Conv2d layer(4, 6, {3, 2}, options);
      const std::vector<double> expected =
          reference::conv2d(x, shape, values_of(layer.weight), layer.weight.shape(),
                            with_bias ? values_of(layer.bias) : std::vector<double>(), options);
      // At most 25 roundings of sums below 25/sqrt(24), and some smaller roundings.
      check_close(layer(tensor_of(x, shape)), reference::conv2d_shape(shape, layer.weight.shape(), options), expected,
                  {25, 1});
    }
  }
}

TEST_CASE("Conv2d's parameters get gradients") {
  nn::Conv2d layer(1, 2, 2);
  sum(layer(tensor_of({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3}))).backward();
  check_close(layer.weight.grad(), {2, 1, 2, 2}, {12, 16, 24, 28, 12, 16, 24, 28}, {0});
  check_close(layer.bias.grad(), {2}, {4, 4}, {0});
}

TEST_CASE("Conv3d and ConvTranspose3d: parameters, values, refusals") {
  manual_seed(13);
  const nn::Conv3d layer(6, 40, {3, 2, 1}, {.groups = 2}), bare(1, 2, 3, {.bias = false});
  CHECK(layer.weight.shape() == Shape{40, 3, 3, 2, 1});
  CHECK(layer.bias.shape() == Shape{40});
  CHECK_FALSE(bare.bias.defined());
  check_uniform(layer.weight, 1 / std::sqrt(18.0));

  const Shape shape{1, 4, 5, 6, 7};
  const Tensor x = tensor_of(random_values(2, shape.numel()), shape);
  const Conv3dOptions options{.stride = {1, 2, 1}, .padding = {1, 0, 1}, .dilation = {2, 1, 1}, .groups = 2};
  nn::Conv3d conv(4, 6, {2, 3, 2}, options);
  CHECK(conv(x).to_vector<float>() == conv3d(x, conv.weight, conv.bias, options).to_vector<float>());
  CHECK(conv.extra_repr() ==
        "4, 6, kernel_size=(2, 3, 2), stride=(1, 2, 1), padding=(1, 0, 1), dilation=(2, 1, 1), groups=2");
  const ConvTranspose3dOptions up{.stride = 2, .output_padding = {1, 0, 0}};
  nn::ConvTranspose3d transposed(4, 3, {2, 3, 2}, up);
  CHECK(transposed.weight.shape() == Shape{4, 3, 2, 3, 2});
  CHECK(transposed(x).to_vector<float>() ==
        conv_transpose3d(x, transposed.weight, transposed.bias, up).to_vector<float>());
  CHECK(transposed.forward(x, {11, 13, 14}).to_vector<float>() == transposed(x).to_vector<float>());
  CHECK(transposed.forward(x, {1, 3, 10, 14, 15}).shape() == Shape{1, 3, 10, 14, 15});
  CHECK(nn::ConvTranspose1d(4, 2, 3, {.stride = 4}).forward(ones({4, 5}), {22}).shape() == Shape{2, 22});
  CHECK(transposed.extra_repr() == "4, 3, kernel_size=(2, 3, 2), stride=(2, 2, 2), output_padding=(1, 0, 0)");

  check_error([] { nn::Conv3d(1, 1, {3, 0, 3}); }, {"[Conv3d]", "kernel (3, 0, 3)", "must be positive"});
  check_error([] { nn::Conv3d(6, 4, 3, {.groups = 3}); }, {"[Conv3d]", "6 input and 4 output", "3 groups"});
  check_error([] { nn::ConvTranspose3d(0, 1, 3); }, {"[ConvTranspose3d]", "in_channels 0"});
  check_error([&] { conv(ones({1, 3, 5, 5, 5})); }, {"[conv3d]", "3 channels"});
  check_error([&] { transposed.forward(x, {12, 13, 14}); }, {"[ConvTranspose3d]", "12 for axis 0", "10 to 11"});
  check_error([&] { transposed.forward(x, {12, 13}); }, {"[ConvTranspose3d]", "(12, 13)", "3 or 5 numbers"});
}

}  // namespace crisol
