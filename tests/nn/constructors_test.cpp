// Each layer and each optimiser is made in all forms that users write. What compiles here must stay.
#include <type_traits>
#include <vector>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

std::vector<Tensor> one_parameter() { return {ones({2}).requires_grad_()}; }

}  // namespace

TEST_CASE("normalisation layers take a size, sizes in braces, and options") {
  CHECK(nn::LayerNorm(64).weight.shape() == Shape{64});
  CHECK(nn::LayerNorm({64}).weight.shape() == Shape{64});
  CHECK(nn::LayerNorm{64}.weight.shape() == Shape{64});
  CHECK(nn::LayerNorm({4, 6}).weight.shape() == Shape({4, 6}));
  CHECK(nn::LayerNorm(Shape{4, 6}).weight.shape() == Shape({4, 6}));
  CHECK(nn::LayerNorm({64}, {.eps = 1e-3}).eps() == 1e-3);
  CHECK(nn::LayerNorm({4, 6}, {.eps = 1e-3, .affine = false}).eps() == 1e-3);
  CHECK_FALSE(nn::LayerNorm(64, {.affine = false}).weight.defined());
  const nn::LayerNorm member{64, {.eps = 1e-4}}, same = member;
  CHECK(same.weight.shape() == Shape{64});
  CHECK(nn::GroupNorm(2, 4, {.eps = 1e-3}).num_groups() == 2);
  CHECK(nn::GroupNorm{2, 4}.num_channels() == 4);
  CHECK(nn::BatchNorm2d(3, {.momentum = 0.2}).options().momentum == 0.2);
  CHECK_FALSE(nn::BatchNorm2d(3, {.momentum = std::nullopt}).options().momentum.has_value());
  CHECK(nn::BatchNorm1d{3}.num_features() == 3);
  CHECK(nn::BatchNorm3d(3, {1e-3, 0.2, false, true}).options().eps == 1e-3);
  CHECK(nn::InstanceNorm1d(3).num_features() == 3);
  CHECK(nn::InstanceNorm2d(3, {.affine = true}).weight.defined());
  CHECK(nn::InstanceNorm3d(3, {.track_running_stats = true}).running_mean.defined());
}

TEST_CASE("pooling layers take one size, sizes in braces, and options") {
  const IntPair pair{2, 3};
  CHECK(nn::MaxPool2d(2).options().kernel == IntPair(2));
  CHECK(nn::MaxPool2d({2, 3}).options().kernel == pair);
  CHECK(nn::MaxPool2d(pair).options().kernel == pair);
  CHECK(nn::MaxPool2d({2, 3}, {.stride = 1}).options().stride == IntPair(1));
  CHECK(nn::MaxPool2d(3, {.stride = 2, .padding = 1}).options().padding == IntPair(1));
  CHECK(nn::MaxPool2d({.kernel = 3, .stride = 2}).options().stride == IntPair(2));
  CHECK(nn::MaxPool2d{3, {.stride = 2}}.options().kernel == IntPair(3));
  CHECK(nn::AvgPool2d(2).options().kernel == IntPair(2));
  CHECK(nn::AvgPool2d({2, 3}).options().kernel == pair);
  CHECK(nn::AvgPool2d({2, 3}, {.padding = 1}).options().padding == IntPair(1));
  CHECK(nn::AvgPool2d({.kernel = 3}).options().kernel == IntPair(3));
  CHECK(nn::AdaptiveAvgPool2d(1).output() == IntPair(1));
  CHECK(nn::AdaptiveAvgPool2d({2, 3}).output() == pair);
  CHECK(nn::MaxPool3d(2).options().kernel == IntTriple(2));
  CHECK(nn::MaxPool3d({1, 2, 2}).options().kernel == IntTriple(1, 2, 2));
  CHECK(nn::AvgPool3d({1, 2, 2}, {.padding = 0}).options().kernel == IntTriple(1, 2, 2));
  CHECK(nn::AdaptiveAvgPool3d({1, 2, 2}).output() == IntTriple(1, 2, 2));
}

TEST_CASE("convolutions, linear layers and the others take their sizes and options") {
  CHECK(nn::Conv1d(2, 4, 3).out_channels() == 4);
  CHECK(nn::Conv1d(2, 4, 3, {.padding = 1}).options().padding == 1);
  CHECK(nn::Conv2d(2, 4, 3).in_channels() == 2);
  CHECK(nn::Conv2d(2, 4, {3, 5}).weight.shape() == Shape({4, 2, 3, 5}));
  CHECK(nn::Conv2d(2, 4, {3, 5}, {.stride = {2, 1}, .bias = false}).options().stride == IntPair(2, 1));
  CHECK(nn::Conv2d(4, 4, 3, {.groups = 2}).in_channels() == 4);
  CHECK(nn::Conv3d(2, 4, {1, 3, 3}, {.padding = {0, 1, 1}}).out_channels() == 4);
  CHECK(nn::ConvTranspose1d(2, 4, 3, {.stride = 2}).out_channels() == 4);
  CHECK(nn::ConvTranspose2d(4, 2, {3, 2}, {.stride = 2, .groups = 2}).out_channels() == 2);
  CHECK(nn::ConvTranspose3d(4, 2, 3).in_channels() == 4);
  CHECK(nn::Linear(2, 3).in_features() == 2);
  CHECK_FALSE(nn::Linear(2, 3, false).bias.defined());
  CHECK_FALSE(nn::Linear(2, 3, {.bias = false}).bias.defined());
  CHECK(nn::Embedding(5, 2).weight.shape() == Shape({5, 2}));
  CHECK(nn::Embedding(5, 2, {.padding_idx = -1}).padding_idx() == 4);
  CHECK(nn::Dropout().p() == 0.5);
  CHECK(nn::Dropout(0.25).p() == 0.25);
  CHECK(nn::Flatten().first() == 1);
  CHECK(nn::Flatten(0, 1).last() == 1);
  CHECK(nn::Softmax(-1).axis() == -1);
  CHECK(nn::LogSoftmax(1).axis() == 1);
  CHECK(nn::Softplus(2).beta() == 2);
  CHECK(nn::LeakyReLU(0.2).parameter() == 0.2);
  CHECK(nn::ELU().parameter() == 1);
  CHECK(nn::CELU(2).parameter() == 2);
  CHECK(nn::RNN(2, 3).hidden_size() == 3);
  CHECK(nn::LSTM(2, 3, {.num_layers = 2, .bidirectional = true}).options().num_layers == 2);
  CHECK(nn::GRU{2, 3}.input_size() == 2);
  CHECK(nn::RNNCell(2, 3, {.nonlinearity = nn::Nonlinearity::relu}).cell() == RnnCell::relu);
  CHECK(nn::LSTMCell(2, 3).weight_hh.shape() == Shape({12, 3}));
  CHECK_FALSE(nn::GRUCell(2, 3, {.bias = false}).bias_ih.defined());
  CHECK(nn::StackedLSTM(2, 3, {.num_layers = 2}).num_layers() == 2);
  CHECK(nn::Sequential(nn::Linear(2, 3), nn::ReLU()).size() == 2);
  CHECK(nn::ModuleList(nn::ReLU(), nn::ReLU()).size() == 2);
}

TEST_CASE("optimisers take parameters or groups, and a rate, options, or both") {
  const auto check = [](auto optimizer, auto options) {
    using O = decltype(optimizer);
    using Optimizer = typename O::type;
    CHECK(Optimizer(one_parameter()).parameters().size() == 1);
    CHECK(Optimizer(one_parameter(), 0.5).lr() == 0.5);
    CHECK(Optimizer(one_parameter(), 1).lr() == 1);
    CHECK(Optimizer(one_parameter(), {.lr = 0.5}).lr() == 0.5);
    const Optimizer both(one_parameter(), 0.5, {.weight_decay = 0.25});
    CHECK(both.lr() == 0.5);
    CHECK(both.param_groups()[0].weight_decay == 0.25);
    CHECK(both.defaults().weight_decay == 0.25);
    options.weight_decay = 0.125;
    CHECK(Optimizer(one_parameter(), options).param_groups()[0].weight_decay == 0.125);
    CHECK(Optimizer(one_parameter(), 0.5, options).lr() == 0.5);
    const Optimizer groups({{.params = one_parameter()}, {.params = one_parameter(), .lr = 0.125}}, 0.5,
                           {.weight_decay = 0.25});
    CHECK(groups.lr() == 0.5);
    CHECK(groups.param_groups()[1].lr == 0.125);
    CHECK(groups.param_groups()[1].weight_decay == 0.25);
    CHECK(Optimizer({{.params = one_parameter()}}, 0.5).lr() == 0.5);
    nn::Linear layer(2, 2);
    CHECK(Optimizer(layer.parameters(), 1e-3f).parameters().size() == 2);
    CHECK(Optimizer({layer.weight, layer.bias}, 0.5).parameters().size() == 2);
  };
  check(std::type_identity<optim::SGD>(), optim::SGDOptions());
  check(std::type_identity<optim::Adam>(), optim::AdamOptions());
  check(std::type_identity<optim::AdamW>(), optim::AdamWOptions());
  check(std::type_identity<optim::RMSprop>(), optim::RMSpropOptions());
  check(std::type_identity<optim::Lion>(), optim::LionOptions());
  CHECK(optim::EMA(one_parameter(), 0.9).averages().size() == 1);
  CHECK(optim::EMA(one_parameter(), {.decay = 0.9}).averages().size() == 1);
}

TEST_CASE("comparisons of tensors give a bool for each element") {
  const Tensor a = from_vector(std::vector<float>{1, 2, 3}), b = from_vector(std::vector<float>{3, 2, 1});
  const auto bits = [](const Tensor& x) {
    CHECK(x.dtype() == DType::boolean);
    return x.to_vector<std::uint8_t>();
  };
  using Bits = std::vector<std::uint8_t>;
  CHECK(bits(a == b) == Bits{0, 1, 0});
  CHECK(bits(a != b) == Bits{1, 0, 1});
  CHECK(bits(a < b) == Bits{1, 0, 0});
  CHECK(bits(a <= b) == Bits{1, 1, 0});
  CHECK(bits(a > b) == Bits{0, 0, 1});
  CHECK(bits(a >= b) == Bits{0, 1, 1});
  CHECK(bits(a == 2) == Bits{0, 1, 0});
  CHECK(bits(2.0 == a) == Bits{0, 1, 0});
  CHECK(bits(2 != a) == Bits{1, 0, 1});
  CHECK(bits(a.reshape({3, 1}) == b.reshape({1, 3})).size() == 9);
  CHECK(all(a == a).item<bool>());
  const nn::Parameter p(ones({3}));
  CHECK(bits(p == a) == Bits{1, 0, 0});
}

}  // namespace crisol
