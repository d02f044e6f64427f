// The behaviour of every module: names, state, modes, moving between devices.
#include "crisol/nn/module.h"

#include <algorithm>
#include <type_traits>

#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::values_of;
using Names = std::vector<std::string>;

// A module whose parts a test names.
struct Parts : nn::Module {
  using nn::Module::forget;
  using nn::Module::register_buffer;
  using nn::Module::register_module;
  using nn::Module::register_parameter;
};

struct Scale : nn::Module {
  explicit Scale(float value) : factor(full({2}, value)), calls(zeros({}, DType::i64)) {
    register_parameter("factor", factor);
    register_buffer("calls", calls);
  }
  Tensor forward(const Tensor& x) override { return mul(x, factor); }

  nn::Parameter factor;
  nn::Buffer calls;
};

struct Net : nn::Module {
  Net() : first(2), second(3), bias(full({2}, 7)) {
    register_module("first", first);
    register_module("second", second);
    register_parameter("bias", bias);
  }
  Tensor forward(const Tensor& x) override { return add_bias(second(first(x))); }
  Tensor add_bias(const Tensor& x) const { return crisol::add(x, bias); }

  Scale first, second;
  nn::Parameter bias;
};

Names names_of(const NamedTensors& tensors) {
  Names names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

NamedTensors copy_of(const NamedTensors& state) {
  NamedTensors copy;
  for (const auto& [name, tensor] : state) copy.emplace_back(name, tensor.clone());
  return copy;
}

const Tensor& entry(const NamedTensors& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& e) { return e.first == name; });
  REQUIRE(found != tensors.end());
  return found->second;
}

static_assert(std::is_copy_constructible_v<Net> && std::is_move_constructible_v<Net>);
static_assert(!std::is_copy_assignable_v<Net> && !std::is_move_assignable_v<Net>);

template <class Member>
concept CanBeRegistered = requires(Parts& parts, Member& member) {
  parts.register_parameter("name", member);
};
static_assert(CanBeRegistered<nn::Parameter> && !CanBeRegistered<Tensor>);  // An assigned Tensor would diverge.

}  // namespace

TEST_CASE("a module lists its own parts first, then those of its children in order") {
  Net net;
  CHECK(names_of(net.named_parameters()) == Names{"bias", "first.factor", "second.factor"});
  CHECK(names_of(net.named_buffers()) == Names{"first.calls", "second.calls"});
  CHECK(names_of(net.state_dict()) == Names{"bias", "first.factor", "first.calls", "second.factor", "second.calls"});
  REQUIRE(net.named_children().size() == 2);
  CHECK(net.named_children()[0].first == "first");
  CHECK(dynamic_cast<Scale&>(*net.named_children()[1].second).factor.impl() == net.second.factor.impl());
  CHECK(net.parameters().size() == 3);
  CHECK(net.parameter_count() == 6);
  for (const auto& [name, tensor] : net.named_parameters()) CHECK(tensor.requires_grad());
  for (const auto& [name, tensor] : net.named_buffers()) CHECK_FALSE(tensor.requires_grad());

  Parts empty;
  CHECK(empty.parameters().empty());
  CHECK(empty.parameter_count() == 0);
  CHECK(empty.state_dict().empty());
  check_error([&] { empty.forward(ones({1})); }, {"[Module]", "no forward"});
}

TEST_CASE("parts three levels deep are named by their path") {
  Parts inner, middle, outer;
  nn::Parameter small(ones({3})), large(ones({5}));
  nn::Buffer count(ones({}));
  inner.register_parameter("w", small);
  middle.register_module("inner", inner);
  middle.register_buffer("count", count);
  outer.register_module("middle", middle);
  outer.register_parameter("w", large);
  CHECK(names_of(outer.state_dict()) == Names{"w", "middle.count", "middle.inner.w"});
  CHECK(outer.parameter_count() == 8);
}

TEST_CASE("a module forgets a part, and registers its name again") {
  Parts m;
  nn::Parameter first(ones({3})), second(full({2}, 5));
  nn::Buffer mean(ones({}));
  m.register_parameter("first", first);
  m.register_parameter("second", second);
  m.register_buffer("mean", mean);
  m.register_module("layer", Scale(1));
  m.forget("first");
  m.forget("mean");
  m.forget("layer");
  CHECK(names_of(m.state_dict()) == Names{"second"});
  CHECK(m.named_children().empty());
  CHECK(first.to_vector<float>() == std::vector<float>(3, 1));
  CHECK(second.to_vector<float>() == std::vector<float>(2, 5));  // The others are not tied to what was removed.
  check_error([&] { m.forget("first"); }, {"[Module]", "no parameter", "first"});
  nn::Parameter other(ones({7}));
  m.register_parameter("first", other);
  m.register_module("layer", Scale(1));
  CHECK(nn::clone(m).named_children().size() == 1);
  CHECK(names_of(m.named_parameters()) == Names{"second", "first", "layer.factor"});
}

TEST_CASE("a module refuses names that are empty, hold a dot or are taken by any of its parts") {
  Parts m;
  nn::Parameter parameter(ones({1}));
  nn::Buffer buffer(ones({1}));
  m.register_parameter("weight", parameter);
  m.register_buffer("mean", buffer);
  m.register_module("layer", Scale(1));
  for (const char* taken : {"weight", "mean", "layer"}) {
    CAPTURE(taken);
    check_error([&] { m.register_parameter(taken, parameter); }, {"[Module]", taken, "taken"});
    check_error([&] { m.register_buffer(taken, buffer); }, {"[Module]", taken, "taken"});
    check_error([&] { m.register_module(taken, Scale(1)); }, {"[Module]", taken, "taken"});
  }
  for (const char* bad : {"", ".", "a.b"}) {
    CAPTURE(bad);
    check_error([&] { m.register_parameter(bad, parameter); }, {"[Module]", bad, "is no name"});
    check_error([&] { m.register_buffer(bad, buffer); }, {"[Module]", bad, "is no name"});
    check_error([&] { m.register_module(bad, Scale(1)); }, {"[Module]", bad, "is no name"});
  }
  check_error([&] { m.register_module("absent", std::shared_ptr<Scale>()); }, {"[Module]", "absent", "null"});
  check_error([&] { m.register_module("self", m); }, {"[Module]", "self", "contains the module"});
  Parts outer;
  outer.register_module("m", m);
  check_error([&] { m.register_module("outer", outer); }, {"[Module]", "outer", "contains the module"});
  struct Sum : Scale {
    using Scale::Scale;
  } sum(1);
  check_error([&] { m.register_module("sum", static_cast<Scale&>(sum)); }, {"[Module]", "sum", "Sum", "base class"});
  CHECK(names_of(m.state_dict()) == Names{"weight", "mean", "layer.factor", "layer.calls"});
  CHECK(m.named_children().size() == 1);
}

TEST_CASE("undefined parts are not listed, and refuse values by their name") {
  Parts m;
  nn::Parameter bias;
  nn::Buffer mean;
  m.register_parameter("bias", bias);
  m.register_buffer("mean", mean);
  CHECK(m.state_dict().empty());
  check_error([&] { bias = ones({1}); }, {"[Parameter]", "without bias"});
  check_error([&] { bias = nn::Parameter(ones({1})); }, {"[Parameter]", "without bias"});
  check_error([&] { mean = ones({1}); }, {"[Buffer]", "without mean"});
  CHECK_FALSE(bias.defined());
}

TEST_CASE("a state dict is the module's memory, outside the graph") {
  Net net;
  const NamedTensors state = net.state_dict();
  for (const auto& [name, tensor] : state) CHECK_FALSE(tensor.requires_grad());
  Tensor factor = entry(state, "first.factor");
  CHECK(factor.shares_storage_with(net.first.factor));
  factor.fill_(9);
  check_close(net.first.factor, {9, 9}, {0});
  check_close(net(ones({2})), {9 * 3 + 7, 9 * 3 + 7}, {0});
}

TEST_CASE("loading a state dict copies values and keeps the tensors") {
  Net net, other;
  const NoGrad no_grad;
  other.bias.fill_(0.5);
  other.second.calls.fill_(12);
  NamedTensors state = copy_of(other.state_dict());
  std::reverse(state.begin(), state.end());  // Any order is accepted.
  const Tensor held = net.bias;
  net.load_state_dict(state);
  check_close(held, {0.5, 0.5}, {0});
  CHECK(net.second.calls.item<std::int64_t>() == 12);
  CHECK(held.requires_grad());
  CHECK_FALSE(held.shares_storage_with(entry(state, "bias")));
  net.load_state_dict(net.state_dict());  // The module's own state.
  check_close(held, {0.5, 0.5}, {0});
}

TEST_CASE("loading refuses a state that does not fit, names all that is wrong and changes nothing") {
  Net net;
  const NamedTensors good = copy_of(net.state_dict());
  NamedTensors bad;
  bad.emplace_back("bias", full({3}, 1));                     // Wrong shape.
  bad.emplace_back("first.factor", full({2}, 1));             // Valid, but must not be loaded either.
  bad.emplace_back("first.calls", full({1}, 1));              // Wrong shape and another dtype.
  bad.emplace_back("second.calls", full({}, 1, DType::i64));  // Given twice.
  bad.emplace_back("second.calls", full({}, 1, DType::i64));
  bad.emplace_back("third.factor", full({2}, 1));  // No such part; second.factor is missing.
  check_error([&] { net.load_state_dict(bad); },
              {"[load_state_dict]", "different: bias is (2) f32, given (3) f32",
               "different: first.calls is () i64, given (1) f32", "twice: second.calls", "unexpected: third.factor",
               "missing: second.factor"});
  for (const auto& [name, tensor] : net.state_dict()) {
    CAPTURE(name);
    check_close(tensor, values_of(entry(good, name)), {0});
  }
  NamedTensors undefined = copy_of(good);
  undefined[0].second = Tensor();
  check_error([&] { net.load_state_dict(undefined); }, {"[load_state_dict]", "undefined: bias"});
  check_error([&] { net.load_state_dict({}); }, {"missing: bias", "missing: second.calls"});
}

TEST_CASE("a state that does not fit in names loads in part without strict") {
  Net net;
  const auto difference = net.load_state_dict(
      {{"bias", full({2}, 5)}, {"head.weight", ones({1})}, {"second.calls", full({}, 9, DType::i64)}},
      {.strict = false});
  CHECK(difference.missing == Names{"first.factor", "first.calls", "second.factor"});
  CHECK(difference.unexpected == Names{"head.weight"});
  check_close(net.bias, {5, 5}, {0});
  CHECK(net.second.calls.item<std::int64_t>() == 9);
  check_error([&] { net.load_state_dict({{"bias", full({3}, 1)}}, {.strict = false}); }, {"different: bias", "(3)"});
  check_close(net.bias, {5, 5}, {0});
}

TEST_CASE("loading converts the type of the elements") {
  Scale scale(1);
  scale.load_state_dict({{"factor", full({2}, 0.75).to(DType::f16)}, {"calls", full({}, 3, DType::i32)}});
  check_close(scale.factor, {0.75, 0.75}, {0});
  CHECK(scale.factor.dtype() == DType::f32);
  CHECK(scale.calls.item<std::int64_t>() == 3);
}

TEST_CASE("train and eval reach all modules below") {
  Parts outer;
  Net net;
  outer.register_module("net", net);
  CHECK(outer.training());
  CHECK(&outer.eval() == &outer);
  for (const nn::Module* m : outer.modules()) CHECK_FALSE(m->training());
  CHECK_FALSE(net.first.training());
  net.train();
  CHECK(net.second.training());
  CHECK_FALSE(outer.training());
  outer.train();
  CHECK(outer.training());
}

TEST_CASE("zero_grad forgets the gradients of all parameters") {
  Net net;
  const auto backward = [&] { sum(net(ones({2}))).backward(); };
  backward();
  backward();
  check_close(net.first.factor.grad(), {6, 6}, {0});  // 3, twice.
  net.zero_grad();
  for (const Tensor& p : net.parameters()) CHECK_FALSE(p.grad().defined());
  backward();
  check_close(net.second.factor.grad(), {2, 2}, {0});
}

TEST_CASE("a copied or moved module is the same module") {
  Net net;
  net.eval();
  Net copy = net, moved(std::move(net));
  for (Net* same : {&copy, &moved, &net}) {
    CHECK(names_of(same->named_parameters()) == Names{"bias", "first.factor", "second.factor"});
    CHECK_FALSE(same->first.training());
    check_close((*same)(ones({2})), {13, 13}, {0});
  }
  copy.bias = full({2}, 1);
  copy.train();
  CHECK(net.second.training());
  check_close(moved(ones({2})), {7, 7}, {0});
  check_close(net.parameters()[0], {1, 1}, {0});
}

TEST_CASE("moving a module to the device where it is keeps its memory and its gradients") {
  Net net;
  const Tensor bias = net.bias.detach();
  sum(net(ones({2}))).backward();
  CHECK(&net.to(Device()) == &net);
  CHECK(net.bias.shares_storage_with(bias));
  for (const Tensor& p : net.parameters()) {
    CHECK(p.grad().defined());
    CHECK(p.requires_grad());
    CHECK(p.is_leaf());
  }
}

}  // namespace crisol
