// AlexNet, VGG, ResNet and MobileNetV2, compared with torchvision: state dicts, logits, gradients.
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "crisol/autograd.h"
#include "crisol/functions/loss.h"
#include "crisol/nn/models/alexnet.h"
#include "crisol/nn/models/mobilenet_v2.h"
#include "crisol/nn/models/resnet.h"
#include "crisol/nn/models/vgg.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/reduce.h"
#include "doctest/doctest.h"
#include "nn/torchvision_states.h"
#include "support/compare.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::TorchvisionNetwork;

/// shift + scale u. The number u in [-0.5, 0.5) comes from the name and the position, as in uniform() of
/// make_torchvision_states.py.
std::vector<float> uniform(const std::string& name, std::int64_t count, double scale, double shift = 0) {
  std::uint32_t seed = 2166136261u;
  for (const char letter : name) seed = (seed ^ static_cast<unsigned char>(letter)) * 16777619u;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761u + seed;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    values[i] = static_cast<float>(shift + scale * ((h >> 8) / 16777216.0 - 0.5));
  }
  return values;
}

/// The same as values() in that script. The expected logits were computed with these parameters.
std::vector<float> parameter_values(const std::string& name, const Shape& shape) {
  const std::int64_t n = shape.numel();
  if (shape.rank() >= 2) return uniform(name, n, std::sqrt(24.0 / static_cast<double>(n / shape[0])));
  if (name.ends_with("running_var") || name.ends_with("weight")) return uniform(name, n, 0.5, 1);
  return uniform(name, n, 0.2);
}

Tensor image(const TorchvisionNetwork& network) {
  const auto& s = network.image;
  const Shape shape{s[0], s[1], s[2], s[3]};
  return from_vector(uniform("input", shape.numel(), 4), shape);
}

void check_state(const nn::Module& model, const TorchvisionNetwork& network) {
  CHECK(model.parameter_count() == network.parameters);
  std::map<std::string, Shape> expected;
  std::istringstream lines(network.state);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<std::int64_t> sizes;
    for (std::int64_t size; words >> size;) sizes.push_back(size);
    expected[name] = Shape(sizes);
  }
  const NamedTensors state = model.state_dict();
  CHECK(state.size() == expected.size());
  for (const auto& [name, tensor] : state) {
    INFO(name);
    REQUIRE(expected.count(name) == 1);
    CHECK(tensor.shape() == expected[name]);
    CHECK(tensor.dtype() == (name.ends_with("num_batches_tracked") ? DType::i64 : DType::f32));
  }
}

void check_logits(nn::Module& model, const TorchvisionNetwork& network) {
  NamedTensors state;
  for (const auto& [name, tensor] : model.state_dict())
    state.emplace_back(name, tensor.dtype() == DType::i64
                                 ? tensor
                                 : from_vector(parameter_values(name, tensor.shape()), tensor.shape()));
  model.load_state_dict(state);
  model.eval();
  const NoGrad no_grad;
  const Tensor logits = model.forward(image(network));
  REQUIRE(logits.shape() == Shape{network.image[0], 1000});
  const std::vector<float> last = logits.select(0, -1).to_vector<float>();
  // About twenty layers. Each has some roundings of sums of up to ten thousand terms.
  const double tolerance = 1e-4 * network.largest;
  for (std::size_t i = 0; i < std::size(network.logits); ++i)
    CHECK(std::abs(static_cast<double>(last[125 * i]) - network.logits[i]) <= tolerance);
}

void check_training_step(nn::Module& model, const TorchvisionNetwork& network) {
  model.train();
  const std::vector<std::int64_t> labels(static_cast<std::size_t>(network.image[0]), 7);
  const Tensor loss = cross_entropy(model.forward(image(network)), from_vector(labels));
  CHECK(std::isfinite(loss.item()));
  loss.backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    INFO(name);
    REQUIRE(parameter.grad().defined());
    CHECK(parameter.grad().shape() == parameter.shape());
    const float largest = ops::max(ops::abs(parameter.grad())).item();
    CHECK(std::isfinite(largest));
    // A bias before a batch norm has no effect in training, so its gradient is 0 or a rounding error.
    if (!name.ends_with(".bias")) CHECK(largest > 0);
  }
}

void check_model(nn::Module&& model, const TorchvisionNetwork& network) {
  check_state(model, network);
  check_logits(model, network);
  check_training_step(model, network);
}

}  // namespace

#define NEEDS_A_FAST_DEVICE                                            \
  if (testing::slow_device() || Device().info().platform == "rusticl") \
  CRISOL_SKIP("a large network takes too long here")

TEST_CASE("AlexNet is torchvision's") {
  NEEDS_A_FAST_DEVICE;
  check_model(nn::AlexNet(), testing::alexnet);
}

TEST_CASE("VGG-16 is torchvision's" * doctest::test_suite("long")) {
  NEEDS_A_FAST_DEVICE;
  check_model(nn::vgg16(), testing::vgg16);
}

TEST_CASE("ResNet-18 is torchvision's") {
  NEEDS_A_FAST_DEVICE;
  check_model(nn::resnet18(), testing::resnet18);
}

TEST_CASE("MobileNetV2 is torchvision's") {
  NEEDS_A_FAST_DEVICE;
  check_model(nn::MobileNetV2(), testing::mobilenet_v2);
}

TEST_CASE("networks take the number of classes") {
  if (testing::slow_device()) CRISOL_SKIP("a network takes too long here");
  CHECK(nn::resnet18(7).parameter_count() == 11689512 - 513 * 993);
  CHECK(nn::MobileNetV2(7).parameter_count() == 3504872 - 1281 * 993);
}

}  // namespace crisol
