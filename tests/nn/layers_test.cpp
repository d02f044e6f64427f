// Layers without parameters: each one computes its function with the layer's options.
#include <cmath>

#include "crisol/functions/pool.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/dropout.h"
#include "crisol/nn/flatten.h"
#include "crisol/nn/loss.h"
#include "crisol/nn/pool.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "reference/images/pool.h"
#include "reference/loss.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

const Shape image_shape{2, 3, 7, 6};

std::vector<double> image_values() { return random_values(1, image_shape.numel()); }
Tensor images() { return tensor_of(image_values(), image_shape); }

void check_activation(nn::Module&& layer, double (*formula)(double)) {
  const std::vector<double> x = random_values(2, 15, -4, 4);
  std::vector<double> expected;
  for (const double value : x) expected.push_back(formula(value));
  Tensor input = tensor_of(x, {3, 5}).requires_grad_();
  const Tensor y = layer(input);
  check_close(y, {3, 5}, expected, {16});  // exp, log and tanh have errors of up to 16 ulp of a larger result.
  CHECK(layer.parameters().empty());
  CHECK(layer.state_dict().empty());
  sum(y).backward();
  CHECK(input.grad().defined());
}

}  // namespace

TEST_CASE("activation layers compute their formulas, with PyTorch's defaults") {
  check_activation(nn::ReLU(), [](double x) { return x > 0 ? x : 0; });
  check_activation(nn::Sigmoid(), [](double x) { return 1 / (1 + std::exp(-x)); });
  check_activation(nn::Tanh(), [](double x) { return std::tanh(x); });
  check_activation(nn::SiLU(), [](double x) { return x / (1 + std::exp(-x)); });
  check_activation(nn::GELU(), [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; });
  check_activation(nn::Softplus(), [](double x) { return std::log1p(std::exp(x)); });
  check_activation(nn::LeakyReLU(), [](double x) { return x > 0 ? x : 0.01 * x; });
  check_activation(nn::LeakyReLU(0.3), [](double x) { return x > 0 ? x : 0.3 * x; });
  check_activation(nn::ELU(), [](double x) { return x > 0 ? x : std::expm1(x); });
  check_activation(nn::ELU(0.5), [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); });
}

TEST_CASE("pooling layers keep their options") {
  const std::vector<double> x = image_values();
  for (const MaxPool2dOptions& options : {MaxPool2dOptions{2}, MaxPool2dOptions{{3, 2}, 2, {1, 0}}}) {
    const reference::MaxPool expected = reference::max_pool2d(x, image_shape, options);
    check_close(nn::MaxPool2d(options)(images()), expected.shape, expected.values, {0});
  }
  for (const AvgPool2dOptions& options : {AvgPool2dOptions{2}, AvgPool2dOptions{3, 2, 1, true, false}}) {
    const reference::AvgPool expected = reference::avg_pool2d(x, image_shape, options);
    check_close(nn::AvgPool2d(options)(images()), expected.shape, expected.values,
                {10, 1});  // Nine terms, one division.
  }
  for (const IntPair output : {IntPair(1), IntPair(4, 5)}) {
    const reference::AvgPool expected = reference::adaptive_avg_pool2d(x, image_shape, output);
    check_close(nn::AdaptiveAvgPool2d(output)(images()), expected.shape, expected.values, {43, 1});  // Up to 42 terms.
  }
  check_error([] { nn::MaxPool2d(2)(ones({3, 4})); }, {"[max_pool2d]"});
}

TEST_CASE("pooling layers of volumes keep their options") {
  const Shape shape{1, 2, 4, 6, 5};
  const Tensor x = tensor_of(random_values(3, shape.numel()), shape);
  const auto same = [](const Tensor& a, const Tensor& b) {
    CHECK(a.shape() == b.shape());
    CHECK(a.to_vector<float>() == b.to_vector<float>());
  };
  nn::MaxPool3d largest({2, 3, 2}, {.stride = {1, 2, 1}, .padding = {1, 0, 1}});
  same(largest(x), max_pool3d(x, {{2, 3, 2}, {1, 2, 1}, {1, 0, 1}}));
  CHECK(largest.extra_repr() ==
        "kernel_size=(2, 3, 2), stride=(1, 2, 1), padding=(1, 0, 1), dilation=1, ceil_mode=false");
  nn::AvgPool3d mean({1, 2, 2}, {.count_include_pad = false});
  same(mean(x), avg_pool3d(x, {{1, 2, 2}}));
  CHECK(mean.extra_repr() == "kernel_size=(1, 2, 2), stride=(1, 2, 2), padding=0");
  nn::AdaptiveAvgPool3d all(1);
  same(all(x), adaptive_avg_pool3d(x, 1));
  CHECK(all.extra_repr() == "output_size=(1, 1, 1)");
  check_error([] { nn::MaxPool3d(2, MaxPool3dOptions{3}); }, {"[MaxPool3d]", "(2, 2, 2)", "(3, 3, 3)"});
  check_error([] { nn::AvgPool3d(2)(ones({2, 3, 4})); }, {"[avg_pool3d]", "(2, 3, 4)"});
}

TEST_CASE("Flatten merges axes and copies nothing") {
  const Tensor x = images();
  CHECK(nn::Flatten()(x).shape() == Shape{2, 126});
  CHECK(nn::Flatten(0)(x).shape() == Shape{252});
  CHECK(nn::Flatten(1, 2)(x).shape() == Shape{2, 21, 6});
  CHECK(nn::Flatten(-2)(x).shape() == Shape{2, 3, 42});
  CHECK(nn::Flatten()(x).shares_storage_with(x));
  check_close(nn::Flatten()(x), image_values(), {0});
  check_error([&] { nn::Flatten(1, 7)(x); }, {"7"});
}

TEST_CASE("Dropout drops in training only") {
  const std::int64_t n = 4800;
  const double p = 0.3;
  nn::Dropout layer(p);
  const Tensor x = full({40, 120}, 3);
  manual_seed(5);
  const std::vector<double> y = values_of(layer(x));
  std::int64_t dropped = 0;
  for (const double value : y) {
    dropped += value == 0;
    CHECK((value == 0 || std::abs(value - 3 / (1 - p)) < 1e-6));
  }
  // Six standard deviations of a binomial count.
  CHECK(std::abs(static_cast<double>(dropped) - p * n) < 6 * std::sqrt(p * (1 - p) * n));
  CHECK(values_of(layer(x)) != y);
  manual_seed(5);
  CHECK(values_of(layer(x)) == y);
  layer.eval();
  CHECK(layer(x).impl() == x.impl());
  CHECK(values_of(nn::Dropout(0)(x)) == values_of(x));
  CHECK(values_of(nn::Dropout(1)(x)) == std::vector<double>(static_cast<std::size_t>(n), 0));
  for (const double bad : {-0.1, 1.1, std::nan("")})
    check_error([&] { nn::Dropout{bad}; }, {"[Dropout]", "is not in [0, 1]"});
}

TEST_CASE("loss objects keep their options") {
  const std::vector<double> x = random_values(3, 12, -3, 3), target = random_values(4, 12);
  const Tensor logits = tensor_of(x, {4, 3}), labels = from_vector(std::vector<std::int64_t>{2, 0, 1, 2});
  const std::vector<std::int64_t> classes{2, 0, 1, 2};
  for (const CrossEntropyOptions& options :
       {CrossEntropyOptions{}, CrossEntropyOptions{Reduction::sum, 0.1, 0}, CrossEntropyOptions{Reduction::none}}) {
    const bool single = options.reduction != Reduction::none;
    const std::vector<double> dy(single ? 1 : 4, 1.0);
    // A dozen roundings of terms as large as the result.
    check_close(nn::CrossEntropyLoss(options)(logits, labels), single ? Shape{} : Shape{4},
                reference::cross_entropy(x, classes, 3, options, dy).loss, {12});
  }
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    const std::vector<double> mse_dy(reduction == Reduction::none ? 12 : 1, 1.0);
    const std::vector<double> nll_dy(reduction == Reduction::none ? 4 : 1, 1.0);
    check_close(nn::MSELoss(reduction)(logits, tensor_of(target, {4, 3})),
                reference::mse_loss(x, target, reduction, mse_dy).loss, {14});  // Twelve terms.
    check_close(nn::NLLLoss(reduction, 1)(logits, labels),
                reference::nll_loss(x, classes, 3, reduction, 1, nll_dy).loss, {6, 9});  // Four terms below 3.
  }
  Tensor leaf = logits.detach().requires_grad_();
  nn::CrossEntropyLoss()(leaf, labels).backward();
  check_close(leaf.grad(), reference::cross_entropy(x, classes, 3, {}, {1}).dx, {12});
}

}  // namespace crisol
