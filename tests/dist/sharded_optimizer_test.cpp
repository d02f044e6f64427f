// An optimiser whose state is divided among the ranks, against an undivided one.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "dist/parts.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct Net : nn::Module {
  nn::Linear first{10, 31}, second{31, 17}, third{17, 3};
  Net() {
    register_module("first", first);
    register_module("second", second);
    register_module("third", third);
  }
  Tensor forward(const Tensor& x) override { return third(relu(second(relu(first(x))))); }
};

constexpr std::int64_t samples = 14;

std::unique_ptr<optim::Optimizer> make_adam(const std::vector<Tensor>& parts) {
  return std::make_unique<optim::AdamW>(parts, optim::AdamWOptions{.lr = 0.02, .weight_decay = 0.1});
}

void backward(Net& net, bool whole) {
  manual_seed(4);
  const Tensor x = randn({samples, 10}), target = randn({samples, 3});
  const std::int64_t begin = whole ? 0 : samples * dist::rank() / dist::world();
  const std::int64_t end = whole ? samples : samples * (dist::rank() + 1) / dist::world();
  mse_loss(net(x.narrow(0, begin, end - begin)), target.narrow(0, begin, end - begin)).backward();
}

double own_weight() {
  return static_cast<double>(samples * (dist::rank() + 1) / dist::world() - samples * dist::rank() / dist::world());
}

double difference(const NamedTensors& a, const NamedTensors& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].first == b[i].first);
    REQUIRE(a[i].second.shape() == b[i].second.shape());
    most = std::max(most, (a[i].second - b[i].second).abs().max().item<double>());
  }
  return most;
}

NamedTensors copy_of(const NamedTensors& state) {
  NamedTensors copy;
  for (const auto& [name, tensor] : state) copy.emplace_back(name, tensor.clone());
  return copy;
}

}  // namespace

TEST_CASE("dist: a divided optimiser gives the weights and the state of an undivided one") {
  manual_seed(2);
  Net alone;
  Net together = nn::clone(alone);
  const auto undivided = make_adam(alone.parameters());
  dist::ShardedOptimizer divided(together.named_parameters(), make_adam);
  divided.set_weight(own_weight());
  std::int64_t own = 0;
  for (const Tensor& part : divided.own().parameters()) own += part.numel();
  Tensor total = full({}, static_cast<double>(own));
  dist::all_reduce(total);
  CHECK(total.item<double>() == static_cast<double>(alone.parameter_count()));
  CHECK(static_cast<double>(own) < 1.1 * static_cast<double>(alone.parameter_count()) / dist::world() + 64);
  const auto step_both = [&] {
    undivided->zero_grad();
    backward(alone, true);
    undivided->step();
    divided.zero_grad();
    backward(together, false);
    divided.step();
  };
  for (int i = 0; i < 5; ++i) step_both();
  CHECK(difference(alone.named_parameters(), together.named_parameters()) < 1e-5);
  CHECK(difference(undivided->state_dict(), divided.state_dict()) < 1e-5);

  // Both states fit both optimisers.
  const NamedTensors weights = copy_of(together.state_dict()), state = copy_of(divided.state_dict());
  step_both();
  const NamedTensors expected = copy_of(together.state_dict());
  together.load_state_dict(weights);
  divided.load_state_dict(state);
  divided.zero_grad();
  backward(together, false);
  divided.step();
  CHECK(difference(expected, together.state_dict()) == 0);
  undivided->load_state_dict(state);
  CHECK(difference(undivided->state_dict(), state) == 0);
  divided.load_state_dict(copy_of(undivided->state_dict()));
  divided.own().set_lr(0.5);
  CHECK(divided.state_dict()["lr"].to_vector<float>()[0] == doctest::Approx(0.5));
}

TEST_CASE("dist: what a divided optimiser refuses") {
  Net net;
  dist::ShardedOptimizer optimizer(net.named_parameters(), make_adam);
  check_error([&] { optimizer.step(); }, {"[ShardedOptimizer] step: none of the 6 parameters has a gradient"});
  check_error([&] { optimizer.load_state_dict({}); }, {"the state has 0 entries, the state of 6 parameters has 20"});
  NamedTensors state = copy_of(optimizer.state_dict());
  state[0].second = zeros({2});
  if (optimizer.own().parameters().size() == 6)
    check_error([&] { optimizer.load_state_dict(state); }, {"has shape (2), the parameter first.weight"});
  // A gradient on one rank only.
  if (dist::world() > 1) {
    const Tensor x = ones({1, 10});
    (dist::rank() == 0 ? sum(net(x)) : sum(net.first(x))).backward();
    check_error([&] { optimizer.step(); }, {"the parameter second.weight of shape (17, 31) got no gradient on rank 1"});
    optimizer.zero_grad();
    // On no rank: the parameter stays as it is.
    const std::vector<float> before = net.third.weight.to_vector<float>();
    sum(net.first(x)).backward();
    optimizer.step();
    CHECK(net.third.weight.to_vector<float>() == before);
    Tensor tiny = zeros({1}).requires_grad_();
    check_error([&] { dist::ShardedOptimizer({{"x", tiny}}, make_adam); }, {"too few for a part on each of"});
  }
}

TEST_CASE("dist: a divided optimiser limits the norm of the gradients of all ranks together") {
  manual_seed(6);
  Net alone;
  Net together = nn::clone(alone);
  const auto undivided = make_adam(alone.parameters());
  dist::ShardedOptimizer divided(together.named_parameters(), make_adam);
  divided.set_weight(own_weight());
  for (const double most : {0.05, 100.0, 0.05}) {
    undivided->zero_grad();
    backward(alone, true);
    const double expected = optim::clip_grad_norm(alone.parameters(), most).item<double>();
    undivided->step();
    divided.zero_grad();
    backward(together, false);
    CHECK(divided.clip_grad_norm(most) == doctest::Approx(expected).epsilon(1e-5));
    divided.step();
    CHECK(difference(alone.named_parameters(), together.named_parameters()) < 1e-5);
  }
  // The gradients that a rank keeps are of the norm that was asked for.
  divided.zero_grad();
  backward(together, false);
  divided.clip_grad_norm(0.01);
  CHECK(divided.clip_grad_norm(1) == doctest::Approx(0.01).epsilon(1e-3));
  check_error([&] { sum(together.first.bias).backward(); }, {"[ShardedOptimizer] backward() after clip_grad_norm()"});
  divided.zero_grad();
  sum(together.first.bias).backward();
  check_error([&] { divided.clip_grad_norm(0); }, {"clip_grad_norm: max_norm is 0, and must be positive"});
}
