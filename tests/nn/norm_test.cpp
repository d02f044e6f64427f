// Normalisation layers: their state and their modes.
#include "crisol/nn/norm.h"

#include "crisol/capture.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "reference/norm.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

constexpr std::int64_t images = 4, channels = 3, spatial = 10;
const Shape shape{images, channels, 2, 5};
// Sums of 40 terms of size 1 in any order, and a square root. The results are below 4.
const testing::Tolerance rounding{40, 4};

std::vector<double> batch(std::uint64_t seed) { return random_values(seed, shape.numel(), -1, 2); }

std::vector<std::string> names_of(const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

// PyTorch's running statistics after one more batch.
void track(std::vector<double>& mean, std::vector<double>& var, const reference::NormForward& forward,
           double momentum) {
  const double count = images * spatial;
  for (std::size_t c = 0; c < channels; ++c) {
    mean[c] = (1 - momentum) * mean[c] + momentum * forward.mean[c];
    var[c] = (1 - momentum) * var[c] + momentum * forward.var[c] * count / (count - 1);
  }
}

}  // namespace

TEST_CASE("BatchNorm2d has PyTorch's parameters and buffers") {
  const nn::BatchNorm2d layer(3);
  CHECK(names_of(layer.state_dict()) ==
        std::vector<std::string>{"weight", "bias", "running_mean", "running_var", "num_batches_tracked"});
  CHECK(names_of(layer.named_parameters()) == std::vector<std::string>{"weight", "bias"});
  check_close(layer.weight, {3}, {1, 1, 1}, {0});
  check_close(layer.bias, {3}, {0, 0, 0}, {0});
  check_close(layer.running_mean, {3}, {0, 0, 0}, {0});
  check_close(layer.running_var, {3}, {1, 1, 1}, {0});
  CHECK(layer.num_batches_tracked.shape() == Shape{});
  CHECK(layer.num_batches_tracked.item<std::int64_t>() == 0);
  nn::BatchNorm2dOptions bare;
  bare.affine = bare.track_running_stats = false;
  CHECK(nn::BatchNorm2d(3, bare).state_dict().empty());
  check_error([] { nn::BatchNorm2d(0); }, {"[BatchNorm2d]", "num_features 0"});
}

TEST_CASE("BatchNorm2d uses the batch in training and the running statistics after eval") {
  nn::BatchNorm2dOptions options;
  options.eps = 1e-3;
  options.momentum = 0.3;
  nn::BatchNorm2d layer(channels, options);
  const std::vector<double> weight{0.5, -1, 2}, bias{1, 0, -1};
  {
    const NoGrad no_grad;
    layer.weight.copy_from(tensor_of(weight, {channels}));
    layer.bias.copy_from(tensor_of(bias, {channels}));
  }
  std::vector<double> mean(channels, 0), var(channels, 1);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const std::vector<double> x = batch(step);
    const auto expected = reference::batch_norm(x, images, channels, spatial, weight, bias, options.eps);
    check_close(layer(tensor_of(x, shape)), shape, expected.y, rounding);
    track(mean, var, expected, *options.momentum);
    check_close(layer.running_mean, mean, rounding);
    check_close(layer.running_var, var, rounding);
    CHECK(layer.num_batches_tracked.item<std::int64_t>() == static_cast<std::int64_t>(step));
  }
  layer.eval();
  const std::vector<double> x = batch(4);
  check_close(layer(tensor_of(x, shape)), shape,
              reference::batch_norm_constant(x, images, channels, spatial, weight, bias, mean, var, options.eps),
              rounding);
  check_close(layer.running_mean, mean, rounding);
  CHECK(layer.num_batches_tracked.item<std::int64_t>() == 3);
  check_error([&] { layer(ones({2, 5, 2, 2})); }, {"[batch_norm2d]", "5", "3"});
}

TEST_CASE("BatchNorm2d without a momentum keeps the mean of all batches") {
  nn::BatchNorm2d layer(channels, {.momentum = std::nullopt});
  CHECK(layer.extra_repr().find("momentum=none") != std::string::npos);
  std::vector<double> mean(channels, 0), var(channels, 1);
  for (std::uint64_t step = 1; step <= 4; ++step) {
    const std::vector<double> x = batch(step);
    const auto expected =
        reference::batch_norm(x, images, channels, spatial, {1, 1, 1}, {0, 0, 0}, layer.options().eps);
    layer(tensor_of(x, shape));
    track(mean, var, expected, 1.0 / static_cast<double>(step));
    check_close(layer.running_mean, mean, rounding);
    check_close(layer.running_var, var, rounding);
  }
  CHECK(layer.num_batches_tracked.item<std::int64_t>() == 4);
  // The count of a state that was loaded goes on.
  nn::BatchNorm2d resumed(channels, {.momentum = std::nullopt});
  resumed.load_state_dict(layer.state_dict());
  for (nn::BatchNorm2d* const one : {&layer, &resumed}) (*one)(tensor_of(batch(5), shape));
  CHECK(resumed.running_mean.to_vector<float>() == layer.running_mean.to_vector<float>());
  const Tensor x = tensor_of(batch(6), shape);
  check_error([&] { capture([&] { layer(x); }); }, {"[BatchNorm2d]", "momentum", "captured"});
  // Without a momentum the statistics of InstanceNorm stay.
  nn::InstanceNorm2d instance(channels, {.momentum = std::nullopt, .track_running_stats = true});
  instance(x);
  check_close(instance.running_mean, std::vector<double>(channels, 0), {0});
}

TEST_CASE("BatchNorm2d without running statistics always uses the batch") {
  nn::BatchNorm2dOptions options;
  options.track_running_stats = false;
  nn::BatchNorm2d layer(channels, options);
  layer.eval();
  const std::vector<double> x = batch(5);
  check_close(layer(tensor_of(x, shape)),
              reference::batch_norm(x, images, channels, spatial, {1, 1, 1}, {0, 0, 0}, options.eps).y, rounding);
}

TEST_CASE("BatchNorm3d is BatchNorm2d for volumes") {
  const Tensor x = tensor_of(batch(3), shape), volumes = x.reshape({images, channels, 2, 5, 1});
  nn::BatchNorm2d two(channels, {.eps = 1e-3});
  nn::BatchNorm3d three(channels, {.eps = 1e-3});
  CHECK(names_of(three.state_dict()) == names_of(two.state_dict()));
  CHECK(three.extra_repr() == two.extra_repr());
  CHECK(three(volumes).shape() == volumes.shape());
  CHECK(three(volumes).to_vector<float>() == two(x).to_vector<float>());
  two(x);
  for (nn::Module* layer : {static_cast<nn::Module*>(&two), static_cast<nn::Module*>(&three)}) layer->eval();
  CHECK(three(volumes).to_vector<float>() == two(x).to_vector<float>());
  check_error([] { nn::BatchNorm3d(0); }, {"num_features 0"});
}

TEST_CASE("BatchNorm2d goes on counting from a loaded state") {
  nn::BatchNorm2d layer(channels), other(channels);
  for (std::uint64_t step = 0; step < 2; ++step) layer(tensor_of(batch(step), shape));
  other.num_batches_tracked.fill_(100);
  layer.load_state_dict(other.state_dict());
  layer(tensor_of(batch(3), shape));
  CHECK(layer.num_batches_tracked.item<std::int64_t>() == 101);
  const nn::BatchNorm2d moved(std::move(layer));
  CHECK(moved.num_batches_tracked.item<std::int64_t>() == 101);
}

TEST_CASE("LayerNorm normalises the last axes") {
  const Shape x_shape{4, 2, 5};
  const std::vector<double> x = random_values(6, x_shape.numel(), -1, 2);
  const std::vector<double> weight = random_values(7, 10), bias = random_values(8, 10);
  nn::LayerNorm layer({2, 5}, {.eps = 1e-3});
  CHECK(names_of(layer.state_dict()) == std::vector<std::string>{"weight", "bias"});
  check_close(layer.weight, {2, 5}, std::vector<double>(10, 1), {0});
  check_close(layer.bias, {2, 5}, std::vector<double>(10, 0), {0});
  {
    const NoGrad no_grad;
    layer.weight.copy_from(tensor_of(weight, {2, 5}));
    layer.bias.copy_from(tensor_of(bias, {2, 5}));
  }
  const Tensor y = layer(tensor_of(x, x_shape));
  check_close(y, x_shape, reference::layer_norm(x, 4, 10, weight, bias, 1e-3).y, rounding);
  sum(y).backward();
  check_close(layer.bias.grad(), std::vector<double>(10, 4), {0});
  nn::LayerNorm bare({5}, {.affine = false});
  CHECK(bare.state_dict().empty());
  check_close(bare(tensor_of(x, x_shape)), x_shape, reference::layer_norm(x, 8, 5, {}, {}, 1e-5).y, rounding);
  CHECK(names_of(nn::LayerNorm({5}, {.bias = false}).state_dict()) == std::vector<std::string>{"weight"});
  CHECK(names_of(nn::GroupNorm(1, 5, {.bias = false}).state_dict()) == std::vector<std::string>{"weight"});
  CHECK_FALSE(nn::BatchNorm2d(5, {.bias = false}).bias.defined());
  CHECK_FALSE(nn::InstanceNorm2d(5, {.affine = true, .bias = false}).bias.defined());
  check_error([] { nn::LayerNorm(Shape{}); }, {"[LayerNorm]", "()"});
  check_error([] { nn::LayerNorm({3, 0}); }, {"[LayerNorm]", "(3, 0)"});
  check_error([&] { layer(ones({4, 5})); }, {"[layer_norm]", "(2, 5)"});
}

}  // namespace crisol
