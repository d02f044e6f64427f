// Optimisers with real parameters, compared with a computation in double. The tests also cover the parameters that
// steps skip, and the state.
#include <cmath>
#include <limits>
#include <memory>

#include "autograd/node.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/gradients.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "reference/optimizer.h"
#include "support/compare.h"
#include "support/skip.h"

namespace crisol {

namespace {

using reference::OptimizerState;
using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

const Shape shapes[] = {{5, 3}, {7}, {1}, {2, 3, 11}};

std::vector<double> start_of(std::size_t i) { return random_values(100 + i, shapes[i].numel()); }

std::vector<Tensor> make_parameters(DType dtype = DType::f32) {
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < std::size(shapes); ++i)
    parameters.push_back(tensor_of(start_of(i), shapes[i], dtype).requires_grad_());
  return parameters;
}

std::vector<OptimizerState> make_states() {
  std::vector<OptimizerState> states;
  for (std::size_t i = 0; i < std::size(shapes); ++i) states.push_back({start_of(i), {}, {}, {}, {}});
  return states;
}

std::vector<double> gradient_of(int step, std::size_t i) {
  return random_values(static_cast<std::uint64_t>(step) * 10 + i, shapes[i].numel());
}

// Gives a parameter a gradient by backward. The loss is the sum of the parameter times the gradient.
void give_gradient(const Tensor& parameter, const std::vector<double>& gradient) {
  sum(mul(parameter, tensor_of(gradient, parameter.shape(), parameter.dtype()))).backward();
}

void train(optim::Optimizer& optimizer, int first, int steps) {
  for (int step = first; step < first + steps; ++step) {
    optimizer.zero_grad();
    for (std::size_t i = 0; i < optimizer.parameters().size(); ++i)
      give_gradient(optimizer.parameters()[i], gradient_of(step, i));
    optimizer.step();
  }
}

NamedTensors copy_of(const NamedTensors& tensors) {
  NamedTensors copy;
  for (const auto& [name, tensor] : tensors) copy.emplace_back(name, tensor.clone());
  return copy;
}

using HostStep = std::function<void(OptimizerState&, const std::vector<double>&)>;

void check_training(optim::Optimizer& optimizer, const std::vector<Tensor>& held, const HostStep& host_step) {
  std::vector<OptimizerState> states = make_states();
  train(optimizer, 0, 5);
  for (int step = 0; step < 5; ++step)
    for (std::size_t i = 0; i < states.size(); ++i) host_step(states[i], gradient_of(step, i));
  // All steps together are at most 0.5, with about ten roundings in each of five steps. The user's handles see the
  // result.
  for (std::size_t i = 0; i < states.size(); ++i) check_close(held[i], shapes[i], states[i].parameters, {64, 1});
}

void check_methods(const std::vector<Tensor>& p) {
  SUBCASE("SGD") {
    optim::SGD optimizer(p, {0.1});
    check_training(optimizer, p, [](auto& s, const auto& g) { reference::sgd_step(s, g, 0.1, 0, {}); });
  }
  SUBCASE("SGD, dampened momentum and decay") {
    optim::SGD optimizer(p, {.lr = 0.05, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1, .maximize = true});
    check_training(optimizer, p, [](auto& s, const auto& g) {
      reference::sgd_step(s, g, 0.05, 0.9, {0.5, 0.1, false, true});
    });
  }
  SUBCASE("SGD, Nesterov") {
    optim::SGD optimizer(p, {0.02, 0.9, 0, 0, true});
    check_training(optimizer, p, [](auto& s, const auto& g) { reference::sgd_step(s, g, 0.02, 0.9, {0, 0, true}); });
  }
  SUBCASE("Adam, defaults") {
    optim::Adam optimizer(p);
    check_training(optimizer, p, [](auto& s, const auto& g) { reference::adam_step(s, g, 1e-3, 0.9, {}); });
  }
  SUBCASE("Adam, other betas and decay") {
    optim::Adam optimizer(p, {0.05, 0.8, 0.95, 1e-6, 0.1});
    check_training(optimizer, p, [](auto& s, const auto& g) {
      reference::adam_step(s, g, 0.05, 0.8, {0.95, 1e-6, 0.1});
    });
  }
  SUBCASE("AdamW, defaults but the rate") {
    optim::AdamW optimizer(p, 0.05);
    check_training(optimizer, p, [](auto& s, const auto& g) {
      reference::adam_step(s, g, 0.05, 0.9, {0.999, 1e-8, 0.01, true});
    });
  }
  SUBCASE("Adam, AMSGrad, climbing") {
    optim::Adam optimizer(p, {.lr = 0.05, .beta2 = 0.5, .amsgrad = true, .maximize = true});
    check_training(optimizer, p, [](auto& s, const auto& g) {
      reference::adam_step(s, g, 0.05, 0.9, {.beta2 = 0.5, .maximize = true}, true);
    });
  }
  SUBCASE("Lion, defaults but the rate") {
    optim::Lion optimizer(p, 0.01);
    check_training(optimizer, p, [](auto& s, const auto& g) { reference::lion_step(s, g, 0.01, 0.9, {}); });
  }
  SUBCASE("Lion, decay") {
    optim::Lion optimizer(p, {.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.1, .maximize = true});
    check_training(optimizer, p, [](auto& s, const auto& g) {
      reference::lion_step(s, g, 0.01, 0.8, {0.9, 0.1, true});
    });
  }
  SUBCASE("RMSprop, defaults") {
    optim::RMSprop optimizer(p);
    check_training(optimizer, p, [](auto& s, const auto& g) { reference::rmsprop_step(s, g, 0.01, 0, false, {}); });
  }
  SUBCASE("RMSprop, centered, momentum and decay") {
    optim::RMSprop optimizer(p, {0.01, 0.9, 0.1, 0.1, 0.5, true, true});
    check_training(optimizer, p, [](auto& s, const auto& g) {
      reference::rmsprop_step(s, g, 0.01, 0.5, true, {0.9, 0.1, 0.1, true});
    });
  }
}

}  // namespace

TEST_CASE("optimisers follow PyTorch's formulas over several steps") { check_methods(make_parameters()); }

TEST_CASE("optimisers of f64 follow PyTorch's formulas in f64") {
  if (!Device().info().fp64) return testing::note_skip("needs double precision");
  check_methods(make_parameters(DType::f64));
}

TEST_CASE("optimisers of f64: states, parameters of two types, and clipping") {
  if (!Device().info().fp64) return testing::note_skip("needs double precision");
  const std::vector<Tensor> p = make_parameters(DType::f64);
  optim::Adam optimizer(p, {.lr = 0.05, .amsgrad = true});
  train(optimizer, 0, 2);
  const NamedTensors saved = copy_of(optimizer.state_dict());
  const std::vector<Tensor> again = make_parameters(DType::f64);
  for (std::size_t i = 0; i < p.size(); ++i) again[i].detach().copy_from(p[i].detach());
  optim::Adam loaded(again, {.lr = 0.05, .amsgrad = true});
  loaded.load_state_dict(saved);
  train(optimizer, 2, 3);
  train(loaded, 2, 3);
  for (std::size_t i = 0; i < p.size(); ++i) check_close(again[i], values_of(p[i]), {0});

  const Tensor wide = make_parameters(DType::f64)[0], narrow = make_parameters()[1];
  optim::SGD both({wide, narrow}, {0.1});
  give_gradient(wide, gradient_of(1, 0));
  give_gradient(narrow, gradient_of(1, 1));
  both.step();
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> expected = start_of(i);
    for (std::size_t e = 0; e < expected.size(); ++e) expected[e] -= 0.1 * gradient_of(1, i)[e];
    check_close(i == 0 ? wide : narrow, expected, {2, 1});
  }
  double squares = 0;
  for (const double g : gradient_of(1, 0)) squares += g * g;
  check_close(optim::clip_grad_norm({wide}, 0.5), {std::sqrt(squares)}, {8});
  std::vector<double> clipped = gradient_of(1, 0);
  for (double& g : clipped) g *= 0.5 / (std::sqrt(squares) + 1e-6);
  check_close(wide.grad(), clipped, {8});
}

TEST_CASE("making an optimiser keeps values and gradients") {
  std::vector<Tensor> p = make_parameters();
  give_gradient(p[0], gradient_of(1, 0));
  const optim::Adam optimizer(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    check_close(p[i], shapes[i], start_of(i), {0});
    CHECK(p[i].shares_storage_with(p[0]));
    CHECK(p[i].requires_grad());
  }
  check_close(p[0].grad(), shapes[0], gradient_of(1, 0), {0});
  CHECK_FALSE(p[1].grad().defined());
}

TEST_CASE("a step leaves parameters without a gradient, and their state, as they are") {
  std::vector<Tensor> p = make_parameters();
  optim::Adam optimizer(p, {0.1});
  train(optimizer, 0, 1);
  std::vector<std::vector<double>> before;
  for (const Tensor& parameter : p) before.push_back(values_of(parameter));
  const NamedTensors state = optimizer.state_dict();
  std::vector<std::vector<double>> state_before;
  for (const auto& [name, tensor] : state) state_before.push_back(values_of(tensor));

  optimizer.zero_grad();
  give_gradient(p[0], gradient_of(1, 0));
  give_gradient(p[2], gradient_of(1, 2));
  optimizer.step();
  for (const std::size_t i : {1, 3}) check_close(p[i], before[i], {0});
  for (const std::size_t i : {0, 2}) CHECK(values_of(p[i]) != before[i]);
  for (std::size_t k = 0; k < state.size(); ++k) {
    CAPTURE(state[k].first);
    const bool of_skipped = state[k].first == "exp_avg.1" || state[k].first == "exp_avg_sq.3";
    if (of_skipped) check_close(state[k].second, state_before[k], {0});
    if (state[k].first == "exp_avg.2") CHECK(values_of(state[k].second) != state_before[k]);
  }
}

TEST_CASE("a step is a change in place: backward over the old values throws") {
  std::vector<Tensor> p = make_parameters();
  optim::SGD optimizer(p, {0.1});
  const Tensor loss = sum(mul(p[0], p[0]));
  give_gradient(p[0], gradient_of(0, 0));
  optimizer.step();
  check_error([&] { loss.backward(); }, {"[backward]", "changed in place"});
}

TEST_CASE("a saved state goes on where it stopped, bit for bit") {
  const std::function<std::unique_ptr<optim::Optimizer>(const std::vector<Tensor>&)> kinds[] = {
      [](const auto& p) {
        return std::make_unique<optim::SGD>(p, optim::SGDOptions{0.05, 0.9, 0.5});
      },
      [](const auto& p) { return std::make_unique<optim::Adam>(p, optim::AdamOptions{0.05}); },
      [](const auto& p) { return std::make_unique<optim::AdamW>(p, optim::AdamWOptions{.lr = 0.05, .amsgrad = true}); },
      [](const auto& p) { return std::make_unique<optim::Lion>(p, 0.01); },
      [](const auto& p) {
        return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions{0.01, 0.9, 1e-8, 0, 0.5, true});
      }};
  for (const auto& make : kinds) {
    std::vector<Tensor> whole = make_parameters();
    const auto one = make(whole);
    one->set_lr(0.1 / 3);  // Neither value is exact in float.
    one->set_momentum(0.7 / 3);
    train(*one, 0, 3);
    const NamedTensors state = copy_of(one->state_dict());
    std::vector<Tensor> resumed;
    for (const Tensor& parameter : whole) resumed.push_back(parameter.detach().clone().requires_grad_());
    train(*one, 3, 3);

    const auto two = make(resumed);
    two->load_state_dict(state);
    CHECK(two->lr() == 0.1 / 3);
    CHECK(two->momentum() == 0.7 / 3);
    train(*two, 3, 3);
    for (std::size_t i = 0; i < whole.size(); ++i) check_close(resumed[i], values_of(whole[i]), {0});
  }
}

TEST_CASE("load_state_dict refuses another state and changes nothing") {
  std::vector<Tensor> p = make_parameters();
  optim::Adam optimizer(p);
  train(optimizer, 0, 1);
  const NamedTensors own = optimizer.state_dict(), copy = copy_of(own);
  const auto check = [&](const std::string& name, const Tensor& value, std::initializer_list<std::string_view> parts) {
    NamedTensors bad = copy;
    for (auto& [key, tensor] : bad) tensor = key == name ? value : ones(tensor.shape());  // All others are valid.
    for (auto& [key, tensor] : bad)
      if (key == "momentum" && key != name) tensor = zeros({3});
    check_error([&] { optimizer.load_state_dict(bad); }, parts);
  };
  check("exp_avg.1", ones({2}), {"[load_state_dict]", "different: exp_avg.1 is (7) f32, given (2) f32"});
  check("exp_avg.1", Tensor(), {"undefined: exp_avg.1"});
  check("progress.0", full({4}, 0.5), {"progress.0 counts 0.5 steps"});
  check("progress.3", full({4}, -1), {"progress.3 counts -1 steps"});
  check("lr", full({3}, -1), {"[Adam]", "learning rate is -3"});
  check("momentum", full({3}, 1), {"[Adam]", "beta1", "3"});

  NamedTensors renamed = copy;
  renamed[0].first = "other";
  check_error([&] { optimizer.load_state_dict(renamed); }, {"missing: exp_avg.0", "unexpected: other"});
  NamedTensors twice = copy;
  twice.push_back(copy[0]);
  check_error([&] { optimizer.load_state_dict(twice); }, {"twice: exp_avg.0"});
  const optim::SGD other(make_parameters(), {0.1, 0.9});
  check_error([&] { optimizer.load_state_dict(other.state_dict()); }, {"missing: exp_avg.0", "momentum_buffer.0"});

  const NamedTensors after = optimizer.state_dict();
  for (std::size_t k = 0; k < own.size(); ++k) check_close(after[k].second, values_of(copy[k].second), {0});
}

TEST_CASE("a group gets the state that new settings need") {
  const Tensor p = zeros({3}).requires_grad_();
  optim::SGD optimizer({p}, 0.5);
  const auto step = [&] {
    optimizer.zero_grad();
    sum(p).backward();
    optimizer.step();
  };
  step();
  optimizer.set_momentum(0.5);
  step();  // The momentum is 1 now.
  step();  // The momentum is 1.5 now.
  check_close(p, {-0.5 - 0.5 - 0.75, -1.75, -1.75}, {1e-6});
  CHECK(optimizer.state_dict().contains("momentum_buffer.0"));

  const Tensor q = zeros({2}).requires_grad_();
  optim::Adam adam({q}, 0.1);
  adam.set_param_group(0, {.amsgrad = true});
  sum(q).backward();
  adam.step();
  CHECK(adam.state_dict().contains("max_exp_avg_sq.0"));
  check_close(q, {-0.1, -0.1}, {8, 0.1});
}

TEST_CASE("optimisers refuse bad parameters and numbers, and move nothing then") {
  const Tensor p = ones({3}).requires_grad_();
  check_error([&] { optim::SGD(std::vector<Tensor>{}); }, {"[SGD]", "no parameters"});
  check_error([&] { optim::SGD({p, Tensor()}); }, {"[SGD]", "parameter 1"});
  check_error([&] { optim::SGD({Tensor(), p}); }, {"[SGD]", "parameter 0"});
  check_error([&] { optim::SGD({p, ones({3}, DType::i32)}); }, {"[SGD]", "parameter 1"});
  check_error([&] { optim::SGD({p, mul(p, p)}); }, {"[SGD]", "parameter 1", "leaf"});
  check_error([&] { optim::SGD({p}, {-1}); }, {"learning rate is -1"});
  check_error([&] { optim::SGD({p}, -1); }, {"[SGD]", "learning rate is -1"});
  check_error([&] { optim::SGD({p}, {.dampening = 2}); }, {"[SGD]", "dampening is 2"});
  check_error([&] { optim::Adam({p}, {.beta2 = 1}); }, {"[Adam]", "beta2 is 1"});
  check_error([&] { optim::AdamW({p}, {.eps = -1}); }, {"[AdamW]", "eps is -1"});
  check_error([&] { optim::Lion({p}, {.weight_decay = -1}); }, {"[Lion]", "weight_decay is -1"});
  check_error([&] { optim::RMSprop({p}, {.alpha = -1}); }, {"[RMSprop]", "alpha is -1"});
  check_error([&] { optim::SGD({p}, {0.1, 1}); }, {"momentum", "1"});
  check_error([&] { optim::SGD({p}, {0.1, 0, 0, 0, true}); }, {"[SGD]", "nesterov"});
  check_error([&] { optim::Adam({p}, {0.1, 1.5}); }, {"beta1", "1.5"});
  CHECK(p.numel() == 3);
  CHECK(p.offset() == 0);
  check_close(p, {1, 1, 1}, {0});

  optim::SGD optimizer({p}, {0.1});
  check_error([&] { optimizer.set_lr(-1); }, {"learning rate is -1"});
  check_error([&] { optimizer.set_momentum(1.5); }, {"momentum is 1.5"});
  CHECK(optimizer.lr() == 0.1);
}

TEST_CASE("clip_grad_norm scales all gradients by their common norm") {
  for (const bool in_arena : {false, true}) {
    CAPTURE(in_arena);
    std::vector<Tensor> p = make_parameters();
    std::unique_ptr<optim::SGD> optimizer;
    if (in_arena) optimizer = std::make_unique<optim::SGD>(p);
    std::vector<double> all;
    for (const std::size_t i : {0, 1, 3}) {  // Parameter 2 has no gradient.
      const std::vector<double> g = gradient_of(0, i);
      give_gradient(p[i], g);
      all.insert(all.end(), g.begin(), g.end());
    }
    const double norm = reference::norm(all);
    const Tensor before = optim::clip_grad_norm(p, norm * 2);
    CHECK(before.item<double>() == doctest::Approx(norm).epsilon(2e-6));
    check_close(p[0].grad(), gradient_of(0, 0), {0});
    optim::clip_grad_norm(p, norm / 3);
    for (const std::size_t i : {0, 1, 3}) {
      std::vector<double> expected = gradient_of(0, i);
      for (double& value : expected) value *= norm / 3 / (norm + 1e-6);
      check_close(p[i].grad(), expected, {20});  // The norm's error, and three roundings.
    }
    CHECK_FALSE(p[2].grad().defined());
    CHECK(optim::clip_grad_norm({p[2]}, 1).item<double>() == 0);
    check_error([&] { optim::clip_grad_norm(p, -1); }, {"[clip_grad_norm]", "-1"});
  }
}

TEST_CASE("clip_grad_norm takes other norms, no limit, and refuses a norm that is not finite") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const bool in_arena : {false, true}) {
    CAPTURE(in_arena);
    std::vector<Tensor> p{zeros({3}).requires_grad_(), zeros({2, 2}).requires_grad_(), zeros({2}).requires_grad_()};
    std::unique_ptr<optim::SGD> optimizer;
    if (in_arena) optimizer = std::make_unique<optim::SGD>(p);
    const std::vector<double> first{1, -2, 3}, second{-4, 0, 2, 1};
    const auto start = [&] {
      for (const Tensor& one : p) set_grad(one, Tensor());
      sum(mul(p[0], tensor_of(first, {3}))).backward();
      sum(mul(p[1], tensor_of(second, {2, 2}))).backward();
    };
    start();
    CHECK(optim::clip_grad_norm(p, infinity, 2).item<double>() == doctest::Approx(std::sqrt(35.0)).epsilon(2e-6));
    check_close(p[1].grad(), second, {0});
    CHECK(optim::clip_grad_norm(p, 2, infinity).item<double>() == 4);
    check_close(p[0].grad(), {0.5, -1, 1.5}, {8});
    check_close(p[1].grad(), {-2, 0, 1, 0.5}, {8});
    start();
    CHECK(optim::clip_grad_norm(p, 6.5, 1).item<double>() == 13);
    check_close(p[0].grad(), {0.5, -1, 1.5}, {8});
    start();
    const double cubic = std::cbrt(1 + 8 + 27 + 64 + 8 + 1.0);
    CHECK(optim::clip_grad_norm(p, 100, 3, true).item<double>() == doctest::Approx(cubic).epsilon(2e-6));
    check_close(p[1].grad(), second, {0});
    p[0].grad().copy_from(tensor_of({1, infinity, 3}, {3}));
    for (const double norm_type : {2.0, infinity, 3.0})
      check_error([&] { optim::clip_grad_norm(p, 1, norm_type, true); }, {"[clip_grad_norm]", "inf", "nonfinite"});
    check_close(p[1].grad(), second, {0});
    CHECK(std::isinf(optim::clip_grad_norm(p, 1, infinity).item<double>()));
    check_error([&] { optim::clip_grad_norm(p, 1, 0); }, {"[clip_grad_norm]", "norm_type 0"});
    check_error([&] { optim::clip_grad_norm(p, 1, std::nan("")); }, {"[clip_grad_norm]", "norm_type"});
  }
}

TEST_CASE("each parameter counts its own steps, also after loading the state") {
  std::vector<Tensor> p = make_parameters();
  std::vector<OptimizerState> states = make_states();
  auto optimizer = std::make_unique<optim::Adam>(p, optim::AdamOptions{0.05});
  const auto run = [&](int step, std::initializer_list<std::size_t> touched) {
    optimizer->zero_grad();
    for (const std::size_t i : touched) {
      give_gradient(p[i], gradient_of(step, i));
      reference::adam_step(states[i], gradient_of(step, i), 0.05, 0.9, {});
    }
    optimizer->step();
  };
  run(0, {0, 3});
  run(1, {0, 1, 3});  // 1 starts late.
  run(2, {1, 2});     // 2 starts even later.
  const NamedTensors saved = copy_of(optimizer->state_dict());
  optimizer.reset();
  optimizer = std::make_unique<optim::Adam>(p, optim::AdamOptions{0.05});
  optimizer->load_state_dict(saved);
  run(3, {0, 1, 2, 3});
  run(4, {0, 1, 2, 3});
  for (std::size_t i = 0; i < states.size(); ++i) check_close(p[i], shapes[i], states[i].parameters, {64, 1});
}

TEST_CASE("an optimiser whose parameters have moved refuses to step") {
  std::vector<Tensor> p = make_parameters();
  optim::SGD first(p, {0.1});
  give_gradient(p[1], gradient_of(0, 1));
  const std::vector<double> before = values_of(p[1]);
  // As Module::to does it.
  autograd::replace_leaf(p[0], zeros({5, 3}));
  check_error([&] { first.step(); }, {"[SGD]", "parameter 0", "(5, 3)", "other memory"});
  CHECK(values_of(p[1]) == before);
}

TEST_CASE("momentum can be switched off and on again") {
  std::vector<Tensor> p = make_parameters();
  optim::SGD with(p, {0.1, 0.9});
  with.set_momentum(0);
  with.set_momentum(0.8);
  CHECK(with.momentum() == 0.8);
}

}  // namespace crisol
