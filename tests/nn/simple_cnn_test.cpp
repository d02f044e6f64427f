// The model of the MNIST sample.
#include "crisol/nn/models/simple_cnn.h"

#include <cmath>

#include "crisol/functions/conv.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/pool.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/gradcheck.h"
#include "support/skip.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::check_gradients;
using testing::GradcheckOptions;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

Tensor images(std::int64_t count) { return tensor_of(random_values(1, count * 784, -0.4, 2.8), {count, 1, 28, 28}); }

template <class Layer>
Layer& child(const nn::SimpleCNN& model, std::size_t index) {
  return dynamic_cast<Layer&>(*model.named_children().at(index).second);
}

}  // namespace

TEST_CASE("SimpleCNN has the layers of its text") {
  const nn::SimpleCNN model;
  CHECK(model.parameter_count() == 421642);
  const std::pair<const char*, Shape> expected[] = {
      {"conv1.weight", {32, 1, 3, 3}}, {"conv1.bias", {32}}, {"conv2.weight", {64, 32, 3, 3}}, {"conv2.bias", {64}},
      {"fc1.weight", {128, 3136}},     {"fc1.bias", {128}},  {"fc2.weight", {10, 128}},        {"fc2.bias", {10}}};
  const NamedTensors state = model.state_dict();
  REQUIRE(state.size() == std::size(expected));
  for (std::size_t i = 0; i < state.size(); ++i) {
    CHECK(state[i].first == expected[i].first);
    CHECK(state[i].second.shape() == expected[i].second);
    CHECK(state[i].second.dtype() == DType::f32);
  }
}

TEST_CASE("SimpleCNN takes its channels and classes") {
  if (testing::slow_device()) CRISOL_SKIP("a forward pass takes too long here");
  nn::SimpleCNN model(3, 7);
  CHECK(model.parameter_count() == 421642 + 2 * 32 * 9 - 3 * 129);
  CHECK(model(ones({2, 3, 28, 28})).shape() == Shape{2, 7});
}

TEST_CASE("SimpleCNN refuses images of other sizes") {
  nn::SimpleCNN model;
  for (const Shape& shape :
       {Shape{1, 28, 28}, Shape{2, 1, 27, 28}, Shape{2, 1, 28, 32}, Shape{2, 1, 28, 28, 1}, Shape{784}}) {
    CAPTURE(shape);
    check_error([&] { model(ones(shape)); }, {"[SimpleCNN]", "(N, C, 28, 28)", to_string(shape)});
  }
  check_error([&] { model(ones({2, 3, 28, 28})); }, {"[conv2d]", "3"});
}

TEST_CASE("SimpleCNN is the chain of its functions") {
  if (testing::slow_device()) CRISOL_SKIP("a forward pass takes too long here");
  manual_seed(1);
  nn::SimpleCNN model;
  const std::vector<Tensor> p = model.parameters();
  const Tensor x = images(3);
  const auto chain = [&] {
    Tensor y = max_pool2d(relu(conv2d(x, p[0], p[1], {1, 1})), {2});
    CHECK(y.shape() == Shape{3, 32, 14, 14});
    y = max_pool2d(relu(conv2d(y, p[2], p[3], {1, 1})), {2});
    CHECK(y.shape() == Shape{3, 64, 7, 7});
    return linear(relu(linear(y.flatten(1), p[4], p[5])), p[6], p[7]);
  };
  chain();  // Once a weight was used, a transformed copy of it is kept, and Winograd may pay.
  const Tensor y = chain();
  check_close(model(x), {3, 10}, values_of(y), {0});
  // The same result in inference mode, without recording.
  model.eval();
  const NoGrad no_grad;
  const Tensor inferred = model(x);
  CHECK_FALSE(inferred.requires_grad());
  check_close(inferred, {3, 10}, values_of(y), {0});
}

TEST_CASE("SimpleCNN: every parameter gets a finite gradient that is not all zero") {
  if (testing::slow_device()) CRISOL_SKIP("a forward pass takes too long here");
  manual_seed(2);
  nn::SimpleCNN model;
  cross_entropy(model(images(4)), from_vector(std::vector<std::int64_t>{0, 3, 9, 3})).backward();
  for (const auto& [name, parameter] : model.named_parameters()) {
    CAPTURE(name);
    REQUIRE(parameter.grad().defined());
    CHECK(parameter.grad().shape() == parameter.shape());
    double sum = 0;
    for (const double g : values_of(parameter.grad())) sum += std::abs(g);
    CHECK(std::isfinite(sum));
    CHECK(sum > 0);
  }
}

TEST_CASE("SimpleCNN: gradients against differences, first and last layer") {
  if (testing::slow_device()) CRISOL_SKIP("a forward pass takes too long here");
  manual_seed(3);
  nn::SimpleCNN model;
  const Tensor x = images(2);
  auto& conv1 = child<nn::Conv2d>(model, 0);
  auto& fc2 = child<nn::Linear>(model, 3);
  const double scale = 30;  // Makes derivatives near 0.1 large compared with the 1 in the tolerance.
  const auto last = [&](const std::vector<Tensor>& in) {
    fc2.weight = in[0];
    fc2.bias = in[1];
    return scale * model(x);
  };
  GradcheckOptions options;
  options.elements = 6;
  check_gradients(last, {fc2.weight, fc2.bias}, options);
  const auto first = [&](const std::vector<Tensor>& in) {
    conv1.weight = in[0];
    conv1.bias = in[1];
    return scale * model(x);
  };
  // ReLU and max pooling have kinks, and even a short step meets some of them. With 40 seeds, they changed no
  // difference by more than 2 % of 1 + the largest derivative.
  options.step = 1e-4;
  options.tolerance = 4e-2;
  check_gradients(first, {conv1.weight, conv1.bias}, options);
}

}  // namespace crisol
