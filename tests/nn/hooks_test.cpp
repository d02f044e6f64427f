// Hooks of modules, and functions that go through all modules.
#include <optional>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/nn/activation.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/module_list.h"
#include "crisol/nn/norm.h"
#include "crisol/nn/rnn.h"
#include "crisol/nn/rnn_cell.h"
#include "crisol/nn/sequential.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::tensor_of;
using testing::values_of;

nn::Linear doubling() {
  nn::Linear layer(1, 1);
  layer.weight = full({1, 1}, 2);
  layer.bias = zeros({1});
  return layer;
}

Tensor one(double value) { return full({1, 1}, value); }

/// A module with two results. Its hooks see the product.
class SumAndProduct : public nn::Module {
 public:
  struct Output {
    Tensor sum, product;
  };
  Tensor forward(const Tensor& x) override { return forward(x, x).product; }
  Output forward(const Tensor& x, const Tensor& y) { return {x + y, x * y}; }
  Output operator()(const Tensor& x, const Tensor& y) {
    return call_with_hooks(
        x, [&](const Tensor& input) { return forward(input, y); }, &Output::product);
  }
};

}  // namespace

TEST_CASE("forward hooks see and change inputs and outputs, in order, until they are removed") {
  nn::Linear layer = doubling();
  std::string calls;
  HookHandle add = layer.register_forward_pre_hook([&](nn::Module& module, Tensor& x) {
    CHECK(&module == &layer);
    calls += 'a';
    x = x + 1;
  });
  HookHandle twice = layer.register_forward_pre_hook([&](nn::Module&, Tensor& x) {
    calls += 'b';
    x = x * 2;
  });
  HookHandle look = layer.register_forward_hook([&](nn::Module&, const Tensor& x, Tensor& y) {
    calls += 'c';
    check_close(x, Shape{1, 1}, {8}, {0});
    y = y - 6;
  });
  CHECK(layer.has_hooks());
  check_close(layer(one(3)), Shape{1, 1}, {10}, {0});
  check_close(layer.forward(one(3)), Shape{1, 1}, {6}, {0});  // Hooks belong to operator().
  add.remove();
  look.remove();
  look.remove();
  check_close(layer(one(3)), Shape{1, 1}, {12}, {0});
  CHECK(calls == "abcb");
  twice.remove();
  CHECK_FALSE(layer.has_hooks());
  check_error([&] { layer.register_forward_hook(nullptr); }, {"[Module]", "empty"});
}

TEST_CASE("a hook may remove itself, and a handle outlives its module") {
  std::optional<HookHandle> handle;
  int calls = 0;
  {
    nn::ReLU layer;
    handle = layer.register_forward_hook([&](nn::Module&, const Tensor&, Tensor&) {
      ++calls;
      handle->remove();
    });
    layer(one(1));
    layer(one(1));
    CHECK(calls == 1);
    handle = layer.register_forward_pre_hook([](nn::Module&, Tensor&) {});
  }
  handle->remove();
}

TEST_CASE("backward hooks see and change the gradients of a call's input and output") {
  nn::Linear layer = doubling();
  std::vector<double> seen;
  HookHandle handle = layer.register_full_backward_hook([&](Tensor& grad_input, const Tensor& grad_output) {
    seen.push_back(grad_input.defined() ? grad_input.item() : -1);
    seen.push_back(grad_output.item());
    if (grad_input.defined()) grad_input = grad_input * 10;
  });
  Tensor x = one(3).requires_grad_();
  sum(layer(x) * 5).backward();
  CHECK(seen == std::vector<double>{10, 5});
  check_close(x.grad(), Shape{1, 1}, {100}, {0});
  check_close(layer.weight.grad(), Shape{1, 1}, {15}, {0});
  seen.clear();
  sum(layer(one(3))).backward();  // This input wants no gradient.
  CHECK(seen == std::vector<double>{-1, 1});
  seen.clear();
  sum(layer(layer(x))).backward();  // Two calls, each with its own gradients.
  CHECK(seen == std::vector<double>{2, 1, 40, 20});
  {
    const NoGrad no_grad;
    layer(x);
  }
  handle.remove();
  seen.clear();
  sum(layer(x)).backward();
  CHECK(seen.empty());
}

TEST_CASE("a sequence fuses no pair with hooks, whose hooks see what they would see alone") {
  nn::Linear layer = doubling();
  nn::ReLU relu;
  nn::Sequential net(layer, relu);
  std::vector<double> outputs;
  const auto note = [&](nn::Module&, const Tensor&, Tensor& y) { outputs.push_back(y.item()); };
  HookHandle first = layer.register_forward_hook(note);
  net(one(-1));
  HookHandle second = relu.register_forward_hook(note);
  net(one(-1));
  CHECK(outputs == std::vector<double>{-2, -2, 0});
  check_close(layer(one(-1), relu_epilogue()), Shape{1, 1}, {0}, {0});
  CHECK(outputs.back() == -2);
}

TEST_CASE("hooks of a recurrent network see the sequence and the output") {
  nn::LSTM lstm(2, 3);
  Shape seen;
  HookHandle handle = lstm.register_forward_hook([&](nn::Module&, const Tensor&, Tensor& y) {
    seen = y.shape();
    y = y * 0;
  });
  const auto [output, state] = lstm(ones({4, 1, 2}), {});
  CHECK(seen == Shape{4, 1, 3});
  check_close(output, Shape{4, 1, 3}, std::vector<double>(12, 0), {0});
  CHECK(state.h.shape() == Shape{1, 1, 3});
  nn::GRUCell cell(2, 3);
  int calls = 0;
  cell.register_forward_pre_hook([&](nn::Module&, Tensor&) { ++calls; });
  cell(ones({1, 2}), zeros({1, 3}));
  cell(ones({1, 2}));
  CHECK(calls == 2);
  nn::StackedLSTM stack(2, 3, {.num_layers = 2, .dropout = 0});
  HookHandle last = stack.register_forward_hook([&](nn::Module&, const Tensor&, Tensor& y) { y = y * 0 + 5; });
  const auto [outputs, states] = stack(ones({1, 2}), {});
  check_close(outputs[1], Shape{1, 3}, {5, 5, 5}, {0});
  CHECK(values_of(outputs[0]) == values_of(states.h[0]));
  CHECK(values_of(states.h[1])[0] != 5);
}

TEST_CASE("hooks see the selected one of several results") {
  SumAndProduct module;
  HookHandle before = module.register_forward_pre_hook([](nn::Module&, Tensor& x) { x = x * 10; });
  HookHandle after = module.register_forward_hook([](nn::Module&, const Tensor& x, Tensor& y) { y = y + x; });
  const SumAndProduct::Output output = module(one(2), one(3));
  CHECK(output.sum.item() == 23);
  CHECK(output.product.item() == 80);
  after.remove();
  before.remove();
  CHECK(module(one(2), one(3)).product.item() == 6);
}

TEST_CASE("apply goes through children before parents, and named_modules lists each module once") {
  nn::Linear shared(2, 2);
  nn::Sequential net(shared, nn::Sequential(nn::ReLU(), shared));
  std::string order;
  net.apply([&](nn::Module& module) {
    order += module.type_name() + ' ';
    if (auto* linear = dynamic_cast<nn::Linear*>(&module)) linear->bias = full({2}, 4);
  });
  CHECK(order == "Linear ReLU Linear Sequential Sequential ");
  check_close(shared.bias, {4, 4}, {0});
  std::vector<std::string> names;
  for (const auto& [name, module] : net.named_modules()) names.push_back(name + '=' + module->type_name());
  CHECK(names == std::vector<std::string>{"=Sequential", "0=Linear", "1=Sequential", "1.0=ReLU"});
  CHECK(net.modules()[0] == &net);
  CHECK(net.parameters().size() == 2);
}

TEST_CASE("modules, parameters and buffers are found by name") {
  nn::Sequential net(nn::Linear(2, 3), nn::Sequential(nn::BatchNorm2d(3)));
  CHECK(net.parameter("0.weight").shape() == Shape{3, 2});
  CHECK(net.buffer("1.0.running_var").shape() == Shape{3});
  CHECK(net.module<nn::Linear>("0").bias.shape() == Shape{3});
  CHECK(net.module("1.0").type_name() == "BatchNorm2d");
  check_error([&] { net.module("1.2.x"); }, {"[module]", "'1.2.x'", "'1'", "children 0"});
  check_error([&] { net.module("0.x"); }, {"[module]", "'0.x'", "no children"});
  check_error([&] { net.module(""); }, {"[module]", "''"});
  check_error([&] { net.module<nn::ReLU>("0"); }, {"[module]", "Linear", "ReLU"});
  check_error([&] { net.parameter("0.gain"); }, {"[parameter]", "0.gain"});
  check_error([&] { net.buffer("0.weight"); }, {"[buffer]", "0.weight"});
}

TEST_CASE("hooks: a replaced forward takes the place of forward, within the hooks, and clones keep it") {
  nn::BatchNorm2d norm(2);
  int calls = 0;
  norm.replace_forward([&](nn::Module& module, const Tensor& x) {
    ++calls;
    CHECK(module.training());
    return x * 3.0;
  });
  CHECK(norm.has_hooks());
  const Tensor x = ones({1, 2, 1, 1});
  CHECK(norm(x).sum().item() == 6);
  const HookHandle hook = norm.register_forward_hook([](nn::Module&, const Tensor&, Tensor& y) { y = y + 1.0; });
  CHECK(norm(x).sum().item() == 8);
  nn::BatchNorm2d copy = nn::clone(norm);
  CHECK(copy(x).sum().item() == 8);
  CHECK(calls == 3);
  copy.replace_forward({});
  copy.eval();
  CHECK(copy(x).sum().item() == doctest::Approx(4).epsilon(1e-4));
  CHECK(calls == 3);
}

TEST_CASE("a wrapper of calls surrounds hooks and forward(), and clone() leaves it out") {
  nn::Linear layer = doubling();
  std::string calls;
  const HookHandle hook = layer.register_forward_hook([&](nn::Module&, const Tensor&, Tensor&) { calls += 'h'; });
  CHECK(layer.call_wrapper() == nullptr);
  layer.wrap_call([&](nn::Module& module, const Tensor& x, const std::function<Tensor(const Tensor&)>& call) {
    CHECK(&module == &layer);
    calls += '(';
    const Tensor y = call(x + 1) * 10;
    calls += ')';
    return y;
  });
  CHECK(layer(one(3)).item() == 80.0f);
  CHECK(calls == "(h)");
  CHECK(layer.handles() == 1);
  const nn::Linear handle = layer;
  CHECK(layer.handles() == 2);
  CHECK(nn::clone(layer).call_wrapper() == nullptr);
  layer.wrap_call(nullptr);
  CHECK(layer(one(3)).item() == 6.0f);
}

TEST_CASE("the gradient of a gradient goes through a backward hook") {
  class Cube : public nn::Module {
   public:
    Tensor forward(const Tensor& x) override { return x * x * x; }
  };
  Cube cube;
  const HookHandle hook = cube.register_full_backward_hook([](Tensor& dx, const Tensor&) { dx = dx * 2; });
  Tensor x = one(3).requires_grad_();
  const Tensor slope = grad({sum(cube(x))}, {x}, {.create_graph = true})[0];
  CHECK(slope.item() == 54.0f);
  sum(slope).backward();
  CHECK(x.grad().item() == 72.0f);  // The hook doubles the second gradient too.
}

}  // namespace crisol
