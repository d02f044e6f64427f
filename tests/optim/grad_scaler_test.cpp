// GradScaler: the scale, steps that are skipped because of an overflow, and optimisers over parameters of two bytes.
#include "crisol/optim/grad_scaler.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "crisol/capture.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

using namespace crisol;
using crisol::testing::check_error;
using crisol::testing::random_values;
using crisol::testing::tensor_of;
using crisol::testing::values_of;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(const std::vector<Tensor>&)>;
using Parameters = std::vector<Tensor>;

const MakeOptimizer optimizers[] = {
    [](const Parameters& p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions{.lr = 0.1, .momentum = 0.9}); },
    [](const Parameters& p) {
      return std::make_unique<optim::Adam>(p, optim::AdamOptions{.lr = 0.1, .amsgrad = true});
    },
    [](const Parameters& p) { return std::make_unique<optim::AdamW>(p, optim::AdamWOptions{.lr = 0.1}); },
    [](const Parameters& p) {
      return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions{.lr = 0.1, .momentum = 0.9, .centered = true});
    },
    [](const Parameters& p) { return std::make_unique<optim::Lion>(p, optim::LionOptions{.lr = 0.1}); },
};

Parameters scaled_parameters(DType dtype = DType::f32) {
  return {tensor_of(random_values(1, 15), {5, 3}, dtype).requires_grad_(),
          tensor_of(random_values(2, 301), {301}, dtype).requires_grad_()};
}

/// The sum of the parameters times numbers, of which one is `factor`.
Tensor linear_loss(const Parameters& parameters, double factor) {
  std::vector<double> numbers = random_values(7, 301);
  numbers[299] = factor;
  return sum(parameters[0]) + sum(parameters[1] * tensor_of(numbers, {301}, parameters[1].dtype()));
}

std::vector<std::vector<double>> all_values(const Parameters& parameters, const optim::Optimizer& optimizer) {
  std::vector<std::vector<double>> values;
  for (const Tensor& p : parameters) values.push_back(values_of(p));
  for (const auto& [name, tensor] : optimizer.state_dict()) values.push_back(values_of(tensor));
  return values;
}

}  // namespace

TEST_CASE("GradScaler: a step has the result of the optimiser alone, and an overflow skips it") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const MakeOptimizer& make : optimizers) {
      if (dtype == DType::f64 && !Device().info().fp64) continue;
      CAPTURE(dtype);
      const Parameters plain = scaled_parameters(dtype), scaled = scaled_parameters(dtype);
      const auto alone = make(plain), with_scaler = make(scaled);
      INFO(alone->state_dict().size());
      optim::GradScaler scaler({.init_scale = 1024});
      for (const double factor : {0.5, infinite, -0.25, std::nan(""), 2.0}) {
        const bool is_finite = std::isfinite(factor);
        if (is_finite) {
          alone->zero_grad();
          linear_loss(plain, factor).backward();
          alone->step();
        }
        with_scaler->zero_grad();
        scaler.scale(linear_loss(scaled, factor)).backward();
        scaler.step(*with_scaler);
        CHECK(values_of(scaler.overflow(*with_scaler)) == std::vector<double>{is_finite ? 0.0 : 1.0});
        scaler.update();
        CHECK(all_values(scaled, *with_scaler) == all_values(plain, *alone));
      }
      CHECK(scaler.get_scale() == 256);
      // Without the scaler, the same optimiser steps again.
      alone->step();
      with_scaler->step();
      CHECK(all_values(scaled, *with_scaler) == all_values(plain, *alone));
    }
}

TEST_CASE("GradScaler: the scale grows after an interval, and shrinks after an overflow") {
  const Parameters parameters = scaled_parameters();
  optim::SGD optimizer(parameters, {.lr = 0.1});
  optim::GradScaler scaler({.init_scale = 8, .growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3});
  std::vector<double> scales;
  for (const double factor : {1.0, 1.0, 1.0, 1.0, infinite, 1.0, 1.0, infinite, 1.0, 1.0, 1.0}) {
    optimizer.zero_grad();
    scaler.scale(linear_loss(parameters, factor)).backward();
    scaler.step(optimizer);
    scaler.update();
    scales.push_back(scaler.get_scale());
  }
  CHECK(scales == std::vector<double>{8, 8, 32, 32, 8, 8, 8, 2, 2, 2, 8});
  scaler.update(3e38);
  scaler.set_growth_interval(1);
  linear_loss(parameters, 1).backward();
  scaler.step(optimizer);
  scaler.update();
  CHECK(scaler.get_scale() == doctest::Approx(3e38));  // It would become infinite.
}

TEST_CASE("GradScaler: unscale_ gives the gradients of the loss, for clipping") {
  const Parameters parameters = scaled_parameters(), plain = scaled_parameters();
  optim::SGD optimizer(parameters, {.lr = 0.1});
  optim::GradScaler scaler({.init_scale = 4096});
  scaler.scale(linear_loss(parameters, 0.5)).backward();
  linear_loss(plain, 0.5).backward();
  scaler.unscale_(optimizer);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(values_of(parameters[i].grad()) == values_of(plain[i].grad()));
  check_error([&] { scaler.unscale_(optimizer); }, {"unscale_", "already"});
  scaler.step(optimizer);
  check_error([&] { scaler.step(optimizer); }, {"step", "already"});
  check_error([&] { scaler.unscale_(optimizer); }, {"unscale_", "already"});
  scaler.update();
  check_error([&] { scaler.update(); }, {"update", "unscaled"});
}

TEST_CASE("GradScaler: several optimisers have overflows of their own, and one scale") {
  const Parameters first = scaled_parameters(), second = scaled_parameters();
  optim::SGD good(first, {.lr = 0.1}), bad(second, {.lr = 0.1});
  optim::GradScaler scaler({.init_scale = 16});
  const auto before_good = all_values(first, good), before_bad = all_values(second, bad);
  for (int i = 0; i < 2; ++i) {
    good.zero_grad();
    bad.zero_grad();
    scaler.scale(linear_loss(first, 1) + linear_loss(second, i == 0 ? infinite : 1)).backward();
    scaler.step(good);
    scaler.step(bad);
    scaler.update();
    CHECK((all_values(first, good) != before_good));
    CHECK((all_values(second, bad) == before_bad) == (i == 0));
    CHECK(scaler.get_scale() == 8);
  }
}

TEST_CASE("GradScaler: a captured step skips by itself") {
  const Parameters parameters = scaled_parameters(), plain = scaled_parameters();
  optim::Adam optimizer(parameters, {.lr = 0.1}), alone(plain, {.lr = 0.1});
  optim::GradScaler scaler({.init_scale = 64, .growth_interval = 2});
  Tensor factor = full({1}, 1);
  const auto step = [&] {
    optimizer.zero_grad();
    scaler.scale(sum(parameters[0] * factor) + sum(parameters[1])).backward();
    scaler.step(optimizer);
    scaler.update();
  };
  std::vector<double> scales;
  const CapturedGraph graph = capture(step);
  for (const double value : {1.0, 2.0, infinite, 3.0}) {
    if (value != 1) {
      factor.copy_from(full({1}, value));
      graph.replay();
    }
    scales.push_back(scaler.get_scale());
    if (std::isinf(value)) continue;
    alone.zero_grad();
    (sum(plain[0] * value) + sum(plain[1])).backward();
    alone.step();
  }
  CHECK(scales == std::vector<double>{64, 128, 64, 64});
  CHECK(all_values(parameters, optimizer) == all_values(plain, alone));
}

TEST_CASE("GradScaler: the state is restored") {
  const Parameters parameters = scaled_parameters();
  optim::SGD optimizer(parameters, {.lr = 0.1});
  optim::GradScaler scaler({.init_scale = 8, .growth_factor = 3, .growth_interval = 5}), other;
  scaler.scale(linear_loss(parameters, 1)).backward();
  scaler.step(optimizer);
  scaler.update();
  other.load_state_dict(scaler.state_dict());
  CHECK(other.get_scale() == 8);
  CHECK(other.get_growth_factor() == 3);
  CHECK(other.get_growth_interval() == 5);
  CHECK(values_of(other.state_dict()["growth_tracker"]) == std::vector<double>{1});
  check_error([&] { other.load_state_dict({}); }, {"load_state_dict", "growth_tracker"});
}

TEST_CASE("GradScaler: switched off, it changes nothing; wrong settings are refused") {
  const Parameters parameters = scaled_parameters();
  optim::SGD optimizer(parameters, {.lr = 0.1});
  optim::GradScaler off({.enabled = false});
  const Tensor loss = linear_loss(parameters, 1);
  CHECK(off.scale(loss).shares_storage_with(loss));
  loss.backward();
  off.unscale_(optimizer);
  off.step(optimizer);
  off.update();
  CHECK(off.get_scale() == 1);
  CHECK(off.state_dict().size() == 0);
  check_error([] { optim::GradScaler({.init_scale = 0}); }, {"GradScaler", "scale is 0"});
  check_error([] { optim::GradScaler({.growth_factor = 1}); }, {"growth_factor", "1"});
  check_error([] { optim::GradScaler({.backoff_factor = 1}); }, {"backoff_factor", "1"});
  check_error([] { optim::GradScaler({.growth_interval = 0}); }, {"growth_interval", "0"});
  const Parameters halves = scaled_parameters(DType::f16);
  optim::SGD of_halves(halves, {.lr = 0.1});
  optim::GradScaler scaler;
  sum(halves[0]).backward();
  check_error([&] { scaler.unscale_(of_halves); }, {"unscale_", "f16", "Autocast"});
}

TEST_CASE("Optimisers keep f32 values of parameters of two bytes, so that small steps are not lost") {
  for (const DType type : {DType::f16, DType::bf16})
    for (const MakeOptimizer& make : optimizers) {
      CAPTURE(type);
      const Parameters halves = scaled_parameters(type);
      Parameters singles;
      for (const Tensor& p : halves) singles.push_back(p.detach().to(DType::f32).requires_grad_());
      const auto of_halves = make(halves), of_singles = make(singles);
      for (optim::Optimizer* const optimizer : {of_halves.get(), of_singles.get()}) optimizer->set_lr(1e-5);
      for (int i = 0; i < 50; ++i)
        for (const auto& [parameters, optimizer] :
             {std::pair{&halves, of_halves.get()}, {&singles, of_singles.get()}}) {
          optimizer->zero_grad();
          linear_loss(*parameters, 0.5).backward();
          optimizer->step();
        }
      for (std::size_t i = 0; i < halves.size(); ++i) {
        CHECK(halves[i].dtype() == type);
        // The gradients of both are equal up to the rounding of the type.
        const std::vector<double> is = values_of(of_halves->state_dict()["master." + std::to_string(i)]),
                                  expected = values_of(singles[i]);
        for (std::size_t k = 0; k < is.size(); ++k) REQUIRE(is[k] == doctest::Approx(expected[k]).epsilon(1e-4));
        CHECK(values_of(halves[i]) == values_of(tensor_of(is, halves[i].shape(), type)));
      }
    }
}

TEST_CASE("Optimisers of parameters of two bytes: states go on with the same bits, and a written value is taken") {
  for (const DType type : {DType::f16, DType::bf16}) {
    CAPTURE(type);
    const Parameters trained = scaled_parameters(type), resumed = scaled_parameters(type);
    optim::Adam first(trained, {.lr = 1e-4}), second(resumed, {.lr = 1e-4});
    const auto step = [](const Parameters& parameters, optim::Adam& optimizer) {
      optimizer.zero_grad();
      linear_loss(parameters, 0.5).backward();
      optimizer.step();
    };
    for (int i = 0; i < 3; ++i) step(trained, first);
    for (std::size_t i = 0; i < trained.size(); ++i) resumed[i].detach().copy_from(trained[i].detach());
    second.load_state_dict(first.state_dict());
    for (int i = 0; i < 3; ++i) step(trained, first), step(resumed, second);
    CHECK(all_values(trained, first) == all_values(resumed, second));
    // Groups that are made anew take the f32 values with them.
    second.set_param_groups(second.param_groups());
    for (int i = 0; i < 3; ++i) step(trained, first), step(resumed, second);
    CHECK(all_values(trained, first) == all_values(resumed, second));

    const CapturedGraph graph = capture([&] {
      first.zero_grad();
      (sum(trained[0]) + sum(trained[1])).backward();
      first.step();
    });
    for (const double written : {0.0, -3.0}) {
      {
        const NoGrad no_grad;
        Tensor p = trained[0];
        p.fill_(written);
      }
      graph.replay();
      // The f32 value was one that rounds to the written one.
      for (const double value : values_of(first.state_dict()["master.0"]))
        CHECK(std::abs(value - written) < 2e-4 + std::abs(written) / 256);
    }
  }
}

TEST_CASE("An optimiser of bf16 parameters keeps each f32 value in two bytes beside the parameter") {
  constexpr std::int64_t count = 1 << 22;
  const Tensor p = zeros({count}, DType::bf16).requires_grad_();
  const std::uint64_t before = p.device().memory_stats().in_use;
  const optim::SGD optimizer({p}, {.lr = 0.1, .momentum = 0.9});
  // The parameter, its gradient, the remainder and the momentum have two bytes each. The parameter's own memory is
  // free. A buffer that waited for reuse may be larger than that. A momentum of f32 would take two bytes more.
  CHECK(p.device().memory_stats().in_use - before < 8 * count);
}

TEST_CASE("Momenta of bf16 parameters are bf16, go on with the same bits, and load from states that have them in f32") {
  for (const MakeOptimizer& make : {optimizers[0], optimizers[3]}) {
    const Parameters trained = scaled_parameters(DType::bf16);
    const auto first = make(trained);
    const auto step = [](const Parameters& parameters, optim::Optimizer& optimizer) {
      optimizer.zero_grad();
      linear_loss(parameters, 0.5).backward();
      optimizer.step();
    };
    for (int i = 0; i < 3; ++i) step(trained, *first);
    NamedTensors older;
    for (const auto& [name, tensor] : first->state_dict()) {
      CHECK(tensor.dtype() == (name.find("momentum_buffer.") == 0 ? DType::bf16 : DType::f32));
      older.emplace_back(name, tensor.to(DType::f32));
    }
    Parameters resumed, of_older;
    for (Parameters* const copies : {&resumed, &of_older})
      for (const Tensor& p : trained) copies->push_back(p.detach().clone().requires_grad_());
    const auto second = make(resumed), third = make(of_older);
    second->load_state_dict(first->state_dict());
    third->load_state_dict(older);
    step(trained, *first);
    step(resumed, *second);
    step(of_older, *third);
    CHECK(all_values(trained, *first) == all_values(resumed, *second));
    CHECK(all_values(trained, *first) == all_values(of_older, *third));
  }
}
