// Tensors that a program took before: gradients that it keeps, and aliases of parameters.
#include "crisol/autograd.h"
#include "crisol/capture.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/reduce.h"
#include "crisol/gradients.h"
#include "crisol/nn/linear.h"
#include "crisol/opencl_interop.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

using Values = std::vector<float>;

nn::Linear one_weight() {
  nn::Linear layer(1, 1, {.bias = false});
  const NoGrad no_grad;
  layer.weight.fill_(1);
  return layer;
}

void step(nn::Linear& net, optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  mean(square(net(ones({4, 3})) - 1)).backward();
  optimizer.step();
}

}  // namespace

TEST_CASE("gradients that a program keeps stay as they are") {
  for (const bool with_optimizer : {false, true}) {
    CAPTURE(with_optimizer);
    nn::Linear layer = one_weight();
    std::optional<optim::SGD> optimizer;
    if (with_optimizer) optimizer.emplace(layer.parameters(), optim::SGDOptions{0.1});
    std::vector<Tensor> kept;
    for (int task = 1; task <= 3; ++task) {
      with_optimizer ? optimizer->zero_grad() : layer.zero_grad();
      sum(layer(ones({1, 1})) * static_cast<float>(task)).backward();
      kept.push_back(layer.weight.grad());
    }
    for (std::size_t task = 0; task < 3; ++task) CHECK(kept[task].item() == static_cast<float>(task + 1));
  }
}

TEST_CASE("a kept gradient, an alias of it and a gradient with a graph keep their values") {
  Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, {0.5});
  sum(p * 5).backward();
  const Tensor alias = p.grad().detach();
  set_grad(p, Tensor());
  sum(p * 7).backward({}, {.create_graph = true});
  const Tensor linked = p.grad();
  CHECK((linked - alias).detach().to_vector<float>() == Values{2, 2});
  optimizer.zero_grad();
  sum(p * 9).backward();
  CHECK(alias.to_vector<float>() == Values{5, 5});
  CHECK(linked.detach().to_vector<float>() == Values{7, 7});
  optimizer.step();
  CHECK(p.to_vector<float>() == Values{1 - 4.5, 1 - 4.5});
  // Without zero_grad() the gradient is the same tensor, and grows.
  optimizer.zero_grad();
  sum(p).backward();
  const Tensor grows = p.grad();
  sum(p).backward();
  CHECK(grows.to_vector<float>() == Values{2, 2});
  // A kept gradient may come back.
  set_grad(p, Tensor());
  set_grad(p, grows);
  CHECK(p.grad().to_vector<float>() == Values{2, 2});
}

TEST_CASE("a training that keeps no gradient uses one memory for all steps") {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    nn::Linear net(3, 2);
    net.to(dtype);
    optim::Adam optimizer(net.parameters(), {0.1});
    const auto place_after_a_step = [&] {
      optimizer.zero_grad();
      sum(net(ones({4, 3}, dtype))).backward();
      optimizer.step();
      return opencl_buffer(net.weight.grad());
    };
    const OpenclBuffer first = place_after_a_step(), second = place_after_a_step();
    CHECK(first.memory == second.memory);
    CHECK(first.offset == second.offset);
    // One arena has the gradients of both parameters.
    CHECK(opencl_buffer(net.bias.grad()).memory == second.memory);
  }
}

TEST_CASE("a gradient that is kept from before a capture does not change in replays") {
  Tensor p = ones({2}).requires_grad_(), factor = full({}, 3);
  optim::SGD optimizer({p}, {0.0});
  const auto work = [&] {
    optimizer.zero_grad();
    sum(p * factor).backward();
    optimizer.step();
  };
  work();
  const Tensor kept = p.grad();
  factor.fill_(4);
  const CapturedGraph graph = capture(work);
  factor.fill_(5);
  graph.replay();
  CHECK(kept.to_vector<float>() == Values{3, 3});
  CHECK(p.grad().to_vector<float>() == Values{5, 5});
}

TEST_CASE("zero_grad without set_to_none fills the gradients with zeros") {
  for (const bool with_optimizer : {false, true}) {
    nn::Linear net(3, 2);
    std::optional<optim::SGD> optimizer;
    if (with_optimizer) optimizer.emplace(net.parameters(), optim::SGDOptions{0.1});
    sum(net(ones({4, 3}))).backward();
    const Tensor gradient = net.weight.grad();
    with_optimizer ? optimizer->zero_grad(false) : net.zero_grad(false);
    CHECK(gradient.to_vector<float>() == Values(6, 0));
    CHECK(net.weight.grad().impl() == gradient.impl());
    sum(net(ones({4, 3}))).backward();
    CHECK(gradient.to_vector<float>() == Values(6, 4));
    with_optimizer ? optimizer->zero_grad(true) : net.zero_grad(true);
    CHECK_FALSE(net.weight.grad().defined());
  }
  Tensor p = ones({2}).requires_grad_();
  optim::SGD optimizer({p}, {0.1});
  sum(p * p).backward({}, {.create_graph = true});
  optimizer.zero_grad(false);
  CHECK_FALSE(p.grad().requires_grad());
  optimizer.step();
  CHECK(p.to_vector<float>() == Values{1, 1});
}

TEST_CASE("aliases of parameters follow when an optimiser is made") {
  nn::Linear net(3, 2);
  const NamedTensors state = net.state_dict();
  Tensor watch = net.weight.detach();
  const Tensor row = net.weight.detach()[1], turned = net.weight.detach().t();
  nn::Linear tied(3, 2);
  tied.weight = net.weight;
  const Tensor other = tied.weight.detach();
  const auto check = [&] {
    const Values now = net.weight.to_vector<float>();
    CHECK(state["weight"].to_vector<float>() == now);
    CHECK(watch.to_vector<float>() == now);
    CHECK(other.to_vector<float>() == now);
    CHECK(tied.weight.to_vector<float>() == now);
    CHECK(row.to_vector<float>() == Values(now.begin() + 3, now.end()));
    CHECK(turned.contiguous().to_vector<float>() == net.weight.detach().t().contiguous().to_vector<float>());
  };
  optim::SGD first(net.parameters(), {0.1});
  step(net, first);
  check();
  optim::Adam second(net.parameters(), {0.1});
  step(net, second);
  check();
  // A write through an alias reaches the parameter, and the next step.
  watch.fill_(3);
  check();
  step(net, second);
  check();
  CHECK(net.weight.to_vector<float>()[0] != 3);
}

TEST_CASE("a graph that was recorded before the optimiser was made can still run backward") {
  nn::Linear net(3, 2);
  const Tensor loss = sum(square(net(ones({4, 3}))));
  optim::SGD optimizer(net.parameters(), {0.1});
  loss.backward();
  CHECK(net.weight.grad().defined());
  const Tensor gradient = net.weight.grad();
  optim::SGD next(net.parameters(), {0.1});
  sum(net(ones({4, 3}))).backward();
  CHECK(net.weight.grad().impl() == gradient.impl());
  next.step();
}

TEST_CASE("parameters whose memory cannot move are trained where they are") {
  const auto train = [](Tensor p) {
    Tensor q = full({2}, 0.5f).requires_grad_();
    optim::Adam optimizer({q, p}, {0.1});
    for (int i = 0; i < 3; ++i) {
      optimizer.zero_grad();
      (sum(p * p * p) + sum(q * q)).backward();
      optimizer.step();
    }
    return p.to_vector<float>();
  };
  const auto values = [] { return tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}); };
  const Values expected = train(values().requires_grad_());

  SUBCASE("a part of a larger tensor") {
    Tensor larger = zeros({4, 3});
    larger[Slice(1, 3)] = values();
    CHECK(train(larger[Slice(1, 3)].detach().requires_grad_()) == expected);
    CHECK(larger[Slice(1, 3)].to_vector<float>() == expected);
    CHECK(larger[0].to_vector<float>() == Values(3, 0));
  }
  SUBCASE("memory of a user's buffer") {
    Tensor owner = values();
    const Tensor shared = from_opencl(opencl_buffer_for_writing(owner).memory, {2, 3});
    CHECK(train(shared.detach().requires_grad_()) == expected);
    CHECK(owner.to_vector<float>() == expected);
    owner.copy_from(values());
    CHECK(train(owner.requires_grad_()) == expected);
    CHECK(shared.to_vector<float>() == expected);
  }
  SUBCASE("a transposed tensor") {
    const Tensor turned = values().t().contiguous();
    CHECK(train(turned.t().detach().requires_grad_()) == expected);
    CHECK(turned.t().contiguous().to_vector<float>() == expected);
  }
  SUBCASE("two parts of one tensor") {
    const Tensor both = tensor_of({1, 2, 3, 4}, {4});
    Tensor a = both[Slice(0, 2)].detach().requires_grad_(), b = both[Slice(2, 4)].detach().requires_grad_();
    optim::SGD optimizer({a, b}, {1.0});
    (sum(a) + sum(b * 2)).backward();
    optimizer.step();
    CHECK(both.to_vector<float>() == Values{0, 1, 1, 2});
  }
  SUBCASE("memory that a captured graph reads") {
    Tensor p = values().requires_grad_(), y;
    const auto work = [&] {
      const NoGrad no_grad;
      y = p * 2;
    };
    work();
    const CapturedGraph graph = capture(work);
    CHECK(train(p) == expected);
    graph.replay();
    CHECK(y.to_vector<float>()[0] == expected[0] * 2);
  }
}
