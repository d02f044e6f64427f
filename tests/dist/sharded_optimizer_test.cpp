// An optimiser whose state is divided among the ranks, against an undivided one.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/dist.h"
#include "crisol/opencl_interop.h"
#include "dist/parts.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct ShardedNet : nn::Module {
  nn::Linear first{10, 31}, second{31, 17}, third{17, 3};
  ShardedNet() {
    register_module("first", first);
    register_module("second", second);
    register_module("third", third);
  }
  Tensor forward(const Tensor& x) override { return third(relu(second(relu(first(x))))); }
};

constexpr std::int64_t all_samples = 14;

std::unique_ptr<optim::Optimizer> make_adam(const std::vector<Tensor>& parts) {
  return std::make_unique<optim::AdamW>(parts, optim::AdamWOptions{.lr = 0.02, .weight_decay = 0.1});
}

void backward(ShardedNet& net, bool whole) {
  manual_seed(4);
  const DType dtype = net.first.weight.dtype();
  const Tensor x = randn({all_samples, 10}).to(dtype), target = randn({all_samples, 3}).to(dtype);
  const std::int64_t begin = whole ? 0 : all_samples * dist::rank() / dist::world();
  const std::int64_t end = whole ? all_samples : all_samples * (dist::rank() + 1) / dist::world();
  mse_loss(net(x.narrow(0, begin, end - begin)), target.narrow(0, begin, end - begin)).backward();
}

/// A step of one net on all samples, and of the other one on this rank's samples.
void step_both(ShardedNet& alone, optim::Optimizer& undivided, ShardedNet& together, dist::ShardedOptimizer& divided) {
  undivided.zero_grad();
  backward(alone, true);
  undivided.step();
  divided.zero_grad();
  backward(together, false);
  divided.step();
}

double own_weight() {
  return static_cast<double>(all_samples * (dist::rank() + 1) / dist::world() -
                             all_samples * dist::rank() / dist::world());
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
  ShardedNet alone;
  ShardedNet together = nn::clone(alone);
  const auto undivided = make_adam(alone.parameters());
  dist::ShardedOptimizer divided(together.named_parameters(), make_adam);
  divided.set_weight(own_weight());
  std::int64_t own = 0;
  for (const Tensor& part : divided.own().parameters()) own += part.numel();
  Tensor total = full({}, static_cast<double>(own));
  dist::all_reduce(total);
  CHECK(total.item<double>() == static_cast<double>(alone.parameter_count()));
  CHECK(static_cast<double>(own) < 1.1 * static_cast<double>(alone.parameter_count()) / dist::world() + 64);
  for (int i = 0; i < 5; ++i) step_both(alone, *undivided, together, divided);
  CHECK(difference(alone.named_parameters(), together.named_parameters()) < 1e-5);
  CHECK(difference(undivided->state_dict(), divided.state_dict()) < 1e-5);

  // Both states fit both optimisers.
  const NamedTensors weights = copy_of(together.state_dict()), state = copy_of(divided.state_dict());
  step_both(alone, *undivided, together, divided);
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

TEST_CASE("dist: a divided optimiser takes parameters of all floating-point types") {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    CAPTURE(name_of(dtype));
    if (dtype == DType::f64 && !Device().info().fp64) continue;
    manual_seed(2);
    ShardedNet alone;
    alone.to(dtype);
    ShardedNet together = nn::clone(alone);
    // A step is smaller than half the distance of neighbouring numbers of bf16 near 0.1, which is 2.4e-4.
    const auto make = [](const std::vector<Tensor>& parts) {
      return std::make_unique<optim::AdamW>(parts, optim::AdamWOptions{.lr = 1e-4, .weight_decay = 0.1});
    };
    const auto undivided = make(alone.parameters());
    dist::ShardedOptimizer divided(together.named_parameters(), make);
    divided.set_weight(own_weight());
    for (int i = 0; i < 10; ++i) step_both(alone, *undivided, together, divided);
    const NamedTensors expected = undivided->state_dict(), state = divided.state_dict();
    const bool has_masters = dtype != DType::f64;
    // Ranks round the gradients of their samples, and Adam divides by the size of a gradient.
    const double bound = has_masters ? 4e-4 : 1e-12;
    REQUIRE(state.size() == expected.size());
    double most = 0, moved = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::string name = "master." + std::to_string(i);
      const Tensor left = has_masters ? state[name] : together.parameters()[i];
      const Tensor right = has_masters ? expected[name] : alone.parameters()[i];
      CHECK(left.dtype() == right.dtype());
      most = std::max(most, (left - right).abs().mean().item<double>());
      moved = std::max(moved, (left - left.to(dtype).to(left.dtype())).abs().max().item<double>());
    }
    CHECK(most < bound);
    if (has_masters) CHECK(moved > 1e-6);  // The f32 values are kept between steps.
    CHECK(difference(undivided->state_dict(), expected) == 0);
    // The f32 value of a bf16 parameter is kept as its difference from the parameter.
    for (std::size_t i = 0; i < 6; ++i) together.parameters()[i].detach().copy_from(alone.parameters()[i].detach());
    divided.load_state_dict(copy_of(expected));
    CHECK(difference(divided.state_dict(), expected) == 0);
    CHECK(divided.clip_grad_norm(1e-3) > 0);
  }
}

TEST_CASE("dist: what a divided optimiser refuses") {
  ShardedNet net;
  dist::ShardedOptimizer optimizer(net.named_parameters(), make_adam);
  check_error([&] { optimizer.step(); }, {"[ShardedOptimizer] step: none of the 6 parameters has a gradient"});
  check_error([&] { dist::ShardedOptimizer(net.named_parameters(), make_adam, 0); }, {"bucket_bytes is 0"});
  ShardedNet mixed;
  mixed.second.to(DType::bf16);
  check_error([&] { dist::ShardedOptimizer(mixed.named_parameters(), make_adam); },
              {"the parameter second.weight is bf16, and first.weight is f32"});
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
    check_error([&] { dist::ShardedOptimizer(net.named_parameters(), make_adam, 100 + dist::rank()); },
                {"the ranks differ in their buckets: rank 0: 100 bytes; rank 1: 101 bytes"});
    check_error([&] { dist::ShardedOptimizer({{"x", tiny}}, make_adam); }, {"too few for a part on each of"});
  }
}

TEST_CASE("dist: a divided optimiser limits the norm of the gradients of all ranks together") {
  manual_seed(6);
  ShardedNet alone;
  ShardedNet together = nn::clone(alone);
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

namespace {

constexpr double rate = 0.5;
// Three buckets: the last three parameters, second.weight, and the first two parameters.
constexpr std::int64_t small_buckets = 2000;

dist::ShardedOptimizer make_sgd(const ShardedNet& net) {
  return {net.named_parameters(), [](const auto& parts) { return std::make_shared<optim::SGD>(parts, rate); },
          small_buckets};
}

/// The gradient of third.bias is `factor` on this rank, and each parameter has a gradient.
void backward_of_bias(ShardedNet& net, const Tensor& factor) {
  (sum(net.third.bias) * factor + 0.0 * sum(net(ones({1, 10})))).backward();
}

/// What step() subtracted from third.bias, divided by the learning rate.
double average_of_bias(ShardedNet& net, dist::ShardedOptimizer& optimizer) {
  const float before = net.third.bias.to_vector<float>()[1];
  optimizer.step();
  return (before - net.third.bias.to_vector<float>()[1]) / rate;
}

}  // namespace

TEST_CASE("dist: a divided optimiser averages the last layer's gradients before backward computes the first layer's") {
  ShardedNet net;
  dist::ShardedOptimizer optimizer = make_sgd(net);
  const Tensor factor = full({}, dist::rank() + 2.0);
  const double average = (dist::world() + 3) / 2.0;
  const auto overwrite = [&] {  // Through a tensor of its own, so the gradient's version stays.
    const Tensor gradient = net.third.bias.grad();
    const OpenclBuffer buffer = opencl_buffer(gradient);
    from_opencl(buffer.memory, gradient.shape(), DType::f32, gradient.device(), buffer.offset).mul_(100.0);
  };
  const Tensor hidden = relu(net.first(ones({1, 10})));
  bool first_has_gradient = true;
  hidden.register_hook([&](const Tensor&) {
    first_has_gradient = net.first.weight.grad().defined();
    overwrite();
    return Tensor();
  });
  (sum(net.third(relu(net.second(hidden)))) * factor).backward();
  CHECK(!first_has_gradient);
  CHECK(net.third.bias.grad().to_vector<float>()[1] == doctest::Approx(100.0 * (dist::rank() + 2)));
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(average));
}

TEST_CASE("dist: a divided optimiser averages gradients once more that change after backward") {
  ShardedNet net;
  dist::ShardedOptimizer optimizer = make_sgd(net);
  const double mean = (dist::world() - 1) / 2.0;
  const Tensor rank = full({}, static_cast<double>(dist::rank()));
  // Another pass adds up.
  backward_of_bias(net, rank);
  backward_of_bias(net, rank * 2.0);
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(3 * mean));
  // The module discards the gradients of a pass.
  optimizer.zero_grad();
  backward_of_bias(net, rank);
  net.zero_grad();
  backward_of_bias(net, rank + 5.0);
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(mean + 5));
  // Rank 0 alone changes a gradient.
  optimizer.zero_grad();
  backward_of_bias(net, rank);
  if (dist::rank() == 0) net.third.bias.grad().add_(1.0);
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(mean + 1.0 / dist::world()));
  // The optimiser discards the gradients of a pass.
  optimizer.zero_grad();
  backward_of_bias(net, rank);
  optimizer.zero_grad();
  backward_of_bias(net, rank * 4.0);
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(4 * mean));
  // A new weight.
  optimizer.zero_grad();
  backward_of_bias(net, rank + 3.0);
  optimizer.set_weight(dist::rank() == 0 ? 2 : 0);
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(3));
  optimizer.set_weight(1);
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(mean + 3));
}

TEST_CASE("dist: a divided optimiser averages the gradients of a captured backward") {
  ShardedNet net;
  dist::ShardedOptimizer optimizer = make_sgd(net);
  const double mean = (dist::world() - 1) / 2.0;
  Tensor factor = full({}, static_cast<double>(dist::rank()));
  const auto pass = [&] {
    optimizer.zero_grad();
    backward_of_bias(net, factor);
  };
  pass();
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(mean));
  const CapturedGraph graph = capture(pass);
  for (int i = 0; i < 3; ++i) {
    factor.add_(1.0);
    graph.replay();
    CHECK(average_of_bias(net, optimizer) == doctest::Approx(mean + i + 1));
  }
  // The last replay has begun to average gradients. This must not matter to a later pass.
  factor.add_(1.0);
  graph.replay();
  pass();
  CHECK(average_of_bias(net, optimizer) == doctest::Approx(mean + 4));
}
