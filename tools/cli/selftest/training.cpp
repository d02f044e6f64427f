// Optimiser steps, norms of gradients, random numbers, dropout.
#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "cli/selftest/check.h"
#include "crisol/ops/dropout.h"
#include "crisol/ops/optimizer.h"
#include "crisol/random.h"
#include "reference/optimizer.h"

namespace crisol::cli::selftest {

namespace {

using reference::OptimizerState;
using reference::random_values;

constexpr std::int64_t parameter_count = 5003;
constexpr int steps = 5;

/// Takes steps on the device and on the host, and compares the parameters. The calls are `device_step(parameters,
/// gradients, hyper, progress)` and `host_step(state, gradients, lr)`.
template <class DeviceStep, class HostStep>
void check_steps(Check& check, double beta2, DeviceStep device_step, HostStep host_step) {
  const auto start = random_values(1, parameter_count);
  const Tensor parameters = tensor_of(start, {parameter_count});
  const Tensor hyper = ops::make_hyper(Device()), progress = ops::make_progress(Device());
  OptimizerState state{start, {}, {}, {}, {}};
  for (int step = 0; step < steps; ++step) {
    const double lr = 0.01 * (step + 1);
    const auto gradients = random_values(static_cast<std::uint64_t>(10 + step), parameter_count);
    ops::write_hyper(hyper, lr, 0.9);
    ops::advance_step(progress, hyper, beta2);
    device_step(parameters, tensor_of(gradients, {parameter_count}), hyper, progress);
    host_step(state, gradients, lr);
  }
  // Steps are up to lr / sqrt(1 - beta2) = 1.3 long, with about ten roundings in each step.
  check.close(parameters, {parameter_count}, state.parameters, {64, 2});
}

void check_sgd(Check& check) {
  for (const ops::SgdRule& rule : {ops::SgdRule{}, ops::SgdRule{0, 0.1, true}}) {
    const Tensor momenta = zeros({parameter_count});
    check_steps(
        check, 0,
        [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor& progress) {
          ops::sgd_step(p, g, momenta, hyper, progress, rule);
        },
        [&](OptimizerState& state, const std::vector<double>& g, double lr) {
          reference::sgd_step(state, g, lr, 0.9, rule);
        });
  }
}

void check_adam(Check& check) {
  for (const ops::AdamRule& rule : {ops::AdamRule{}, ops::AdamRule{0.999, 1e-8, 0.1, true}}) {
    const bool amsgrad = rule.decoupled;
    const Tensor means = zeros({parameter_count}), squares = zeros({parameter_count}),
                 max_squares = amsgrad ? zeros({parameter_count}) : Tensor();
    check_steps(
        check, rule.beta2,
        [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor& progress) {
          ops::adam_step(p, g, means, squares, max_squares, hyper, progress, rule);
        },
        [&](OptimizerState& state, const std::vector<double>& g, double lr) {
          reference::adam_step(state, g, lr, 0.9, rule, amsgrad);
        });
  }
}

void check_lion(Check& check) {
  const ops::LionRule rule{0.99, 0.1};
  const Tensor means = zeros({parameter_count});
  check_steps(
      check, 0,
      [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor&) {
        ops::lion_step(p, g, means, hyper, rule);
      },
      [&](OptimizerState& state, const std::vector<double>& g, double lr) {
        reference::lion_step(state, g, lr, 0.9, rule);
      });
}

void check_rmsprop(Check& check) {
  const ops::RmspropRule rule{0.9, 1e-6, 0.1};
  const Tensor squares = zeros({parameter_count}), momenta = zeros({parameter_count});
  check_steps(
      check, 0,
      [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor&) {
        ops::rmsprop_step(p, g, squares, Tensor(), momenta, hyper, rule);
      },
      [&](OptimizerState& state, const std::vector<double>& g, double lr) {
        reference::rmsprop_step(state, g, lr, 0.9, false, rule);
      });
}

void check_global_norm(Check& check) {
  const auto a = random_values(30, parameter_count), b = random_values(31, 77);
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  check.close(ops::global_norm({tensor_of(a, {parameter_count}), tensor_of(b, {77})}), {}, {reference::norm(all)},
              {32});
}

constexpr GeneratorState late{0x1234567890abcdefu, 0xfffffffeu};  // The counter's lower half overflows soon.

Generator generator() {
  Generator made(0);
  made.set_state(late);
  return made;
}

std::vector<double> uniform_numbers(std::int64_t n) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; ++i)
    numbers.push_back((philox_word(late.seed, late.counter, static_cast<std::uint64_t>(i)) >> 8) * 0x1p-24);
  return numbers;
}

void check_random(Check& check) {
  const std::int64_t n = 1027;
  const std::vector<double> uniform = uniform_numbers(n);
  std::vector<double> drawn;
  for (const double u : uniform) drawn.push_back(u < 0.3);
  check.equal(rand({n}, generator()), {n}, uniform);
  check.equal(bernoulli(0.3, {n}, generator()), {n}, drawn);
  std::vector<double> order = reference::values_of(randperm(n, generator())), sorted;
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < n; ++i) sorted.push_back(static_cast<double>(i));
  check.holds(order == sorted, "randperm gives no permutation");

  std::vector<double> normal;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i) {
    const std::uint64_t pair = i / 2 * 2;
    const double u = static_cast<float>(philox_word(late.seed, late.counter, pair)) * 0x1p-32f + 0x1p-33f;
    const double turn = (philox_word(late.seed, late.counter, pair + 1) >> 8) * 0x1p-24;
    const double angle = 2 * std::acos(-1.0) * turn;
    normal.push_back(std::sqrt(-2 * std::log(u)) * (i % 2 == 0 ? std::cos(angle) : std::sin(angle)));
  }
  check.ulp(randn({n}, generator()), {n}, normal, 4);
}

void check_dropout(Check& check) {
  const std::int64_t n = 515;
  const auto x = random_values(1, n);
  const std::vector<double> uniform = uniform_numbers(n);
  std::vector<double> mask, y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mask.push_back(uniform[i] >= 0.3);
    y.push_back(mask[i] * x[i] / 0.7);
  }
  const auto result = ops::dropout(tensor_of(x, {n}), 0.3, generator());
  check.equal(result.mask, {n}, mask);
  check.close(result.y, {n}, y, {2});
  check.close(ops::dropout_backward(tensor_of(x, {n}), result.mask, 0.3), {n}, y, {2});
}

}  // namespace

std::vector<Op> training() {
  return {{"sgd_step", check_sgd},         {"adam_step", check_adam},          {"lion_step", check_lion},
          {"rmsprop_step", check_rmsprop}, {"global_norm", check_global_norm}, {"random", check_random},
          {"dropout", check_dropout}};
}

}  // namespace crisol::cli::selftest
