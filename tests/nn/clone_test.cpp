// Deep copies of modules, and layers that are put in the place of others.
#include <optional>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/embedding.h"
#include "crisol/nn/models/resnet.h"
#include "crisol/nn/module_list.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/rnn.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::values_of;

// Has a tie, a shared child, a child in an optional, a buffer and a member that is no module.
struct Net : nn::Module {
  explicit Net(bool with_extra) : shared(2, 2) {
    out.weight = first.weight;
    if (with_extra) extra.emplace(shared, nn::ReLU());
    register_module("first", first);
    register_module("out", out);
    register_module("shared", shared);
    register_module("norm", norm);
    if (extra) register_module("extra", *extra);
  }
  Tensor forward(const Tensor& x) override {
    const Tensor y = norm(shared(out(first(x))) * scale);
    return extra ? (*extra)(y) : y;
  }

  nn::Linear first{2, 2}, out{2, 2}, shared;
  nn::BatchNorm2d norm{2};
  std::optional<nn::Sequential> extra;
  double scale = 2;
};

struct Head : nn::Module {
  Head() { register_module("fc", fc); }
  Tensor forward(const Tensor& x) override { return fc(x); }
  nn::Linear fc{3, 2};
};

std::vector<std::vector<double>> values(const nn::Module& module) {
  std::vector<std::vector<double>> all;
  for (const auto& [name, tensor] : module.state_dict()) all.push_back(values_of(tensor));
  return all;
}

}  // namespace

TEST_CASE("a clone has its own memory, the same values, ties and shared children") {
  Net net(true);
  net.scale = 3;
  net.eval();
  net.first.bias.requires_grad_(false);
  net.norm.train();
  const Tensor x = testing::tensor_of({1, 2, 3, 4, 5, 7}, {3, 2});
  sum(net(x)).backward();
  Net copy = nn::clone(net);
  CHECK(values(copy) == values(net));
  CHECK(copy.named_parameters().size() == net.named_parameters().size());
  CHECK(values_of(copy(x)) == values_of(net(x)));
  CHECK_FALSE(copy.training());
  CHECK(copy.norm.training());
  CHECK_FALSE(copy.first.bias.requires_grad());
  CHECK_FALSE(copy.first.weight.grad().defined());

  const auto before = values(net);
  for (const Tensor& p : copy.parameters()) {
    const NoGrad no_grad;
    Tensor(p).fill_(0.5);
  }
  copy.norm.running_mean = ones({2});
  CHECK(values(net) == before);
  // Members, registry, ties and the layer inside of the sequence are the same in the copy.
  check_close(copy.out.weight, Shape{2, 2}, {0.5, 0.5, 0.5, 0.5}, {0});
  check_close(copy.extra->module<nn::Linear>("0").bias, {0.5, 0.5}, {0});
  copy.first.weight = ones({2, 2});
  check_close(copy.out.weight, Shape{2, 2}, {1, 1, 1, 1}, {0});
  check_close(copy.buffer("norm.running_mean"), {1, 1}, {0});
  copy.shared.eval();
  CHECK_FALSE(copy.module("extra.0").training());
}

TEST_CASE("recurrent networks and lists are cloned") {
  nn::StackedLSTM stack(2, 3, {.num_layers = 2});
  nn::LSTM lstm(2, 3, {.num_layers = 2});
  nn::ModuleList list(nn::Linear(1, 1), nn::ReLU());
  nn::StackedLSTM stack_copy = nn::clone(stack);
  nn::LSTM lstm_copy = nn::clone(lstm);
  nn::ModuleList list_copy = nn::clone(list);
  lstm_copy.weights(1).weight_ih = zeros({12, 3});
  list_copy.at<nn::Linear>(0).weight = zeros({1, 1});
  stack_copy.parameter("layers.0.weight_hh") = zeros({12, 3});
  CHECK(values(lstm) != values(lstm_copy));
  CHECK(values(list) != values(list_copy));
  CHECK(values(stack) != values(stack_copy));
  const Tensor x = ones({1, 2});
  stack.eval();
  stack_copy.eval();
  CHECK(values_of(stack(x)) == values_of(stack_copy(x)));  // A first step multiplies weight_hh by zeros.
  stack_copy.parameter("layers.0.weight_ih") = zeros({12, 2});
  CHECK(values_of(stack(x)) != values_of(stack_copy(x)));
}

TEST_CASE("clone refuses what it would copy in part") {
  struct Pointing : nn::Module {
    std::shared_ptr<nn::Linear> layer = register_module("layer", std::make_shared<nn::Linear>(1, 1));
  };
  Pointing pointing;
  CHECK(pointing.parameter_count() == 2);
  check_error([&] { nn::clone(pointing); }, {"[clone]", "layer", "pointer"});
  Head head;
  const nn::Module& base = head;
  check_error([&] { nn::clone(base); }, {"[Module]", "Head", "base class"});
  nn::Linear copy = head.fc;  // Copies outside of clone() are the same module again.
  copy.bias = full({2}, 3);
  check_close(head.fc.bias, {3, 3}, {0});
}

TEST_CASE("replace_module puts another layer in the place of a member") {
  Head head;
  head.replace_module("fc", head.fc, nn::Linear(3, 7, {.bias = false}));
  CHECK(head.named_parameters().size() == 1);
  CHECK(head(ones({1, 3})).shape() == Shape{1, 7});
  head.fc.weight = ones({7, 3});
  check_close(head.parameter("fc.weight"), Shape{7, 3}, std::vector<double>(21, 1), {0});

  nn::ResNet net({1, 1, 1, 1}, 4);
  net.replace_module("fc", net.fc, nn::Linear(512, 6));
  CHECK(net.parameter("fc.bias").shape() == Shape{6});
  CHECK(net.fc.bias.shape() == Shape{6});
}

TEST_CASE("replace_module refuses what would leave the old layer somewhere") {
  Head head;
  nn::Linear loose(3, 2);
  check_error([&] { head.replace_module("out", head.fc, nn::Linear(3, 1)); }, {"[replace_module]", "out"});
  check_error([&] { head.replace_module("fc", loose, nn::Linear(3, 1)); }, {"[replace_module]", "fc"});
  auto& registered = head.module<nn::Linear>("fc");
  check_error([&] { head.replace_module("fc", registered, nn::Linear(3, 1)); }, {"[replace_module]", "module("});
  {
    const Head copy = head;
    check_error([&] { head.replace_module("fc", head.fc, nn::Linear(3, 1)); }, {"[replace_module]", "1 other handles"});
  }
  nn::Sequential net(head);
  check_error([&] { head.replace_module("fc", head.fc, nn::Linear(3, 1)); }, {"[replace_module]", "other handles"});
  CHECK(head(ones({1, 3})).shape() == Shape{1, 2});
}

}  // namespace crisol
