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
  using nn::Module::register_buffer;
  using nn::Module::register_child;
  using nn::Module::register_module;
  using nn::Module::register_parameter;
};

struct Scale : nn::Module {
  explicit Scale(float value)
      : factor(register_parameter("factor", full({2}, value))),
        calls(register_buffer("calls", zeros({}, DType::i64))) {}
  Tensor forward(const Tensor& x) override { return mul(x, factor); }

  Tensor factor, calls;
};

struct Net : nn::Module {
  Net() { bias = register_parameter("bias", full({2}, 7)); }
  Tensor forward(const Tensor& x) override { return add_bias(second->forward(first->forward(x))); }
  Tensor add_bias(const Tensor& x) const { return crisol::add(x, bias); }

  std::shared_ptr<Scale> first = register_module("first", Scale(2)), second = register_module("second", Scale(3));
  Tensor bias;
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

static_assert(!std::is_copy_constructible_v<Net> && std::is_move_constructible_v<Net>);

}  // namespace

TEST_CASE("a module lists its own parts first, then those of its children in order") {
  Net net;
  CHECK(names_of(net.named_parameters()) == Names{"bias", "first.factor", "second.factor"});
  CHECK(names_of(net.named_buffers()) == Names{"first.calls", "second.calls"});
  CHECK(names_of(net.state_dict()) == Names{"bias", "first.factor", "first.calls", "second.factor", "second.calls"});
  REQUIRE(net.named_children().size() == 2);
  CHECK(net.named_children()[0].first == "first");
  CHECK(net.named_children()[1].second == net.second);
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
  inner.register_parameter("w", ones({3}));
  middle.register_module("inner", std::move(inner));
  middle.register_buffer("count", ones({}));
  outer.register_module("middle", std::move(middle));
  outer.register_parameter("w", ones({5}));
  CHECK(names_of(outer.state_dict()) == Names{"w", "middle.count", "middle.inner.w"});
  CHECK(outer.parameter_count() == 8);
}

TEST_CASE("a module refuses names that are empty, hold a dot or are taken by any of its parts") {
  Parts m;
  m.register_parameter("weight", ones({1}));
  m.register_buffer("mean", ones({1}));
  m.register_module("layer", Scale(1));
  for (const char* taken : {"weight", "mean", "layer"}) {
    CAPTURE(taken);
    check_error([&] { m.register_parameter(taken, ones({1})); }, {"[Module]", taken, "taken"});
    check_error([&] { m.register_buffer(taken, ones({1})); }, {"[Module]", taken, "taken"});
    check_error([&] { m.register_module(taken, Scale(1)); }, {"[Module]", taken, "taken"});
  }
  for (const char* bad : {"", ".", "a.b"}) {
    CAPTURE(bad);
    check_error([&] { m.register_parameter(bad, ones({1})); }, {"[Module]", bad, "is no name"});
    check_error([&] { m.register_buffer(bad, ones({1})); }, {"[Module]", bad, "is no name"});
    check_error([&] { m.register_module(bad, Scale(1)); }, {"[Module]", bad, "is no name"});
  }
  check_error([&] { m.register_child("absent", nullptr); }, {"[Module]", "absent", "null"});
  check_error([&] { m.register_parameter("index", zeros({1}, DType::i64)); }, {"[requires_grad_]", "i64"});
  CHECK(names_of(m.state_dict()) == Names{"weight", "mean", "layer.factor", "layer.calls"});
  CHECK(m.named_children().size() == 1);
}

TEST_CASE("undefined parts are not registered") {
  Parts m;
  CHECK_FALSE(m.register_parameter("bias", Tensor()).defined());
  CHECK_FALSE(m.register_buffer("mean", Tensor()).defined());
  CHECK(m.state_dict().empty());
}

TEST_CASE("a state dict is the module's memory, outside the graph") {
  Net net;
  const NamedTensors state = net.state_dict();
  for (const auto& [name, tensor] : state) CHECK_FALSE(tensor.requires_grad());
  Tensor factor = entry(state, "first.factor");
  CHECK(factor.shares_storage_with(net.first->factor));
  factor.fill_(9);
  check_close(net.first->factor, {9, 9}, {0});
  check_close(net(ones({2})), {9 * 3 + 7, 9 * 3 + 7}, {0});
}

TEST_CASE("loading a state dict copies values and keeps the tensors") {
  Net net, other;
  const NoGrad no_grad;
  other.bias.fill_(0.5);
  other.second->calls.fill_(12);
  NamedTensors state = copy_of(other.state_dict());
  std::reverse(state.begin(), state.end());  // Any order is accepted.
  const Tensor held = net.bias;
  net.load_state_dict(state);
  check_close(held, {0.5, 0.5}, {0});
  CHECK(net.second->calls.item<std::int64_t>() == 12);
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
  bad.emplace_back("first.calls", full({}, 1));               // Wrong dtype.
  bad.emplace_back("second.calls", full({}, 1, DType::i64));  // Given twice.
  bad.emplace_back("second.calls", full({}, 1, DType::i64));
  bad.emplace_back("third.factor", full({2}, 1));  // No such part; second.factor is missing.
  check_error([&] { net.load_state_dict(bad); },
              {"[load_state_dict]", "different: bias is (2) f32, given (3) f32",
               "different: first.calls is () i64, given () f32", "twice: second.calls", "unexpected: third.factor",
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

TEST_CASE("train and eval reach all modules below") {
  Parts outer;
  const auto net = outer.register_module("net", Net());
  CHECK(outer.training());
  CHECK(&outer.eval() == &outer);
  for (const nn::Module* m : {static_cast<nn::Module*>(&outer), static_cast<nn::Module*>(net.get()),
                              static_cast<nn::Module*>(net->first.get())})
    CHECK_FALSE(m->training());
  net->train();
  CHECK(net->second->training());
  CHECK_FALSE(outer.training());
  outer.train();
  CHECK(outer.training());
}

TEST_CASE("zero_grad forgets the gradients of all parameters") {
  Net net;
  const auto backward = [&] { sum(net(ones({2}))).backward(); };
  backward();
  backward();
  check_close(net.first->factor.grad(), {6, 6}, {0});  // 3, twice.
  net.zero_grad();
  for (const Tensor& p : net.parameters()) CHECK_FALSE(p.grad().defined());
  backward();
  check_close(net.second->factor.grad(), {2, 2}, {0});
}

TEST_CASE("a moved module keeps its parts, their memory and its mode") {
  Net net;
  net.eval();
  const Tensor bias = net.bias;
  const nn::Module* first = net.first.get();
  Net moved(std::move(net));
  CHECK(names_of(moved.named_parameters()) == Names{"bias", "first.factor", "second.factor"});
  CHECK(moved.bias.shares_storage_with(bias));
  CHECK(moved.named_children()[0].second.get() == first);
  CHECK_FALSE(moved.training());
  CHECK_FALSE(moved.first->training());
  check_close(moved(ones({2})), {13, 13}, {0});
  Net assigned;
  assigned = std::move(moved);
  CHECK(assigned.named_parameters()[0].second.shares_storage_with(bias));
  check_close(assigned(ones({2})), {13, 13}, {0});
}

TEST_CASE("moving a module to the device where it is keeps its memory and drops gradients") {
  Net net;
  const Tensor bias = net.bias.detach();
  sum(net(ones({2}))).backward();
  CHECK(&net.to(Device()) == &net);
  CHECK(net.bias.shares_storage_with(bias));
  for (const Tensor& p : net.parameters()) {
    CHECK_FALSE(p.grad().defined());
    CHECK(p.requires_grad());
    CHECK(p.is_leaf());
  }
}

}  // namespace crisol
