// Optimiser steps and clipping, compared with a computation in double.
#include "crisol/ops/optimizer.h"
#include "crisol/ops/optimizer_list.h"

#include <cmath>
#include <limits>

#include "crisol/ops/view.h"
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

// A part of a larger tensor, with guards around it. The guards show whether a step stays within its part.
struct Arena {
  Arena(const std::vector<double>& values, std::int64_t first) : size(static_cast<std::int64_t>(values.size())) {
    whole = zeros({first + size + 5});
    part = ops::narrow(whole, 0, first, size);
    part.copy_from(tensor_of(values, {size}));
  }
  double guards() const {
    double sum = 0;
    for (const float value : whole.to_vector<float>()) sum += std::abs(static_cast<double>(value));
    for (const float value : part.to_vector<float>()) sum -= std::abs(static_cast<double>(value));
    return sum;
  }
  std::int64_t size;
  Tensor whole, part;
};

// Runs several steps with a changing learning rate. `device_step` and `host_step` take (arena or state, gradients).
template <class DeviceStep, class HostStep>
void check_steps(std::int64_t count, double beta2, DeviceStep&& device_step, HostStep&& host_step) {
  if (testing::slow_device() && count > 1000) return;
  CAPTURE(count);
  const std::vector<double> start = random_values(1, count);
  const Arena arena(start, 3);
  const Tensor hyper = ops::make_hyper(Device());
  const Tensor progress = ops::make_progress(Device());
  OptimizerState state{start, {}, {}, {}, {}};
  const int steps = testing::slow_device() ? 3 : 6;
  for (int step = 0; step < steps; ++step) {
    const double lr = 0.01 * (step + 1);
    const std::vector<double> g = random_values(static_cast<std::uint64_t>(10 + step), count);
    const Arena gradients(g, 2);
    ops::write_hyper(hyper, lr, 0.9);
    ops::advance_step(progress, hyper, beta2);
    device_step(arena.part, gradients.part, hyper, progress);
    host_step(state, g, lr);
  }
  // A step is at most lr / sqrt(1 - beta2) = 1.3. Each of six steps has about ten roundings.
  check_close(arena.part, {count}, state.parameters, {64, 2});
  CHECK(arena.guards() == doctest::Approx(0).epsilon(1e-4));
}

const std::int64_t counts[] = {0, 1, 15, 64, 1000, 5003};

}  // namespace

TEST_CASE("sgd_step follows PyTorch's formula") {
  struct Case {
    bool momentum;
    ops::SgdRule rule;
  };
  for (const Case& c : {Case{false, {}}, Case{false, {0, 0.1, false}}, Case{true, {0.5, 0.1, false}},
                        Case{true, {0, 0.1, true, true}}}) {
    for (const std::int64_t count : counts) {
      const Tensor momenta = c.momentum ? full({count}, 7) : Tensor();  // The first step overwrites it.
      check_steps(
          count, 0,
          [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor& progress) {
            ops::sgd_step(p, g, momenta, hyper, progress, c.rule);
          },
          [&](OptimizerState& state, const std::vector<double>& g, double lr) {
            reference::sgd_step(state, g, lr, c.momentum ? 0.9 : 0, c.rule);
          });
    }
  }
}

TEST_CASE("adam_step follows PyTorch's formulas for Adam and AdamW") {
  struct Case {
    bool amsgrad;
    ops::AdamRule rule;
  };
  for (const auto& [amsgrad, rule] :
       {Case{false, {}}, Case{true, {0.5, 1e-3, 0.1, false, true}}, Case{false, {0.999, 1e-8, 0.1, true}}}) {
    for (const std::int64_t count : counts) {
      const Tensor means = zeros({count});
      const Tensor squares = zeros({count});
      const Tensor max_squares = amsgrad ? zeros({count}) : Tensor();
      check_steps(
          count, rule.beta2,
          [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor& progress) {
            // Every second step gets its number, and computes the corrections itself.
            const bool counted = static_cast<int>(progress.to_vector<float>()[0]) % 2 == 0;
            const Tensor number = ops::narrow(progress, 0, 0, 1);
            ops::adam_step(p, g, means, squares, max_squares, hyper, counted ? number : progress, rule);
          },
          [&](OptimizerState& state, const std::vector<double>& g, double lr) {
            reference::adam_step(state, g, lr, 0.9, rule, amsgrad);
          });
    }
  }
}

TEST_CASE("adam_steps gives what adam_step gives for each parameter") {
  const Tensor hyper = ops::make_hyper(Device());
  ops::write_hyper(hyper, 0.01, 0.9);
  const ops::AdamRule rule{0.99, 1e-8, 0.1, true};
  const std::int64_t sizes[] = {1, 5000, 0, 17, 128, 70000, 3, 16, 4096, 4097, 9};
  for (const bool amsgrad : {false, true}) {
    std::vector<ops::AdamBuffers> list, expected;
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      const Shape shape{sizes[i]};
      const auto of = [&](int seed) { return tensor_of(random_values(seed, sizes[i]), shape); };
      // The gradients of some have another type.
      const DType type = i == 3 || i == 4 ? DType::f16 : DType::f32;
      const ops::AdamBuffers x{of(1),
                               of(2).to(type),
                               of(3),
                               of(4).abs(),
                               amsgrad ? of(5).abs() : Tensor(),
                               full({1}, static_cast<double>(i + 1))};
      list.push_back(x);
      expected.push_back({x.parameters.clone(), x.gradients, x.means.clone(), x.squares.clone(),
                          amsgrad ? x.max_squares.clone() : Tensor(), x.number});
    }
    ops::adam_steps(list, hyper, rule);
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      CAPTURE(sizes[i]);
      const ops::AdamBuffers& x = expected[i];
      ops::adam_step(x.parameters, x.gradients, x.means, x.squares, x.max_squares, hyper, x.number, rule);
      CHECK(list[i].parameters.to_vector<float>() == x.parameters.to_vector<float>());
      CHECK(list[i].means.to_vector<float>() == x.means.to_vector<float>());
      CHECK(list[i].squares.to_vector<float>() == x.squares.to_vector<float>());
    }
  }
  check_error(
      [&] {
        ops::adam_steps({{ones({2}), ones({3}), ones({2}), ones({2}), {}, ones({1})}}, hyper);
      },
      {"[adam_steps]", "gradients", "3"});
}

TEST_CASE("lion_step follows the formula of Chen et al.") {
  for (const ops::LionRule& rule : {ops::LionRule{}, ops::LionRule{0.9, 0.1, true}}) {
    for (const std::int64_t count : counts) {
      const Tensor means = zeros({count});
      check_steps(
          count, 0,
          [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor&) {
            ops::lion_step(p, g, means, hyper, rule);
          },
          [&](OptimizerState& state, const std::vector<double>& g, double lr) {
            reference::lion_step(state, g, lr, 0.9, rule);
          });
    }
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor p = tensor_of({1, 1, 1}, {3});
  const Tensor hyper = ops::make_hyper(Device());
  ops::write_hyper(hyper, 0.5, 0.9);
  ops::lion_step(p, tensor_of({nan, 0, -3}, {3}), zeros({3}), hyper);
  check_close(p, {nan, 1, 1.5}, {0});
}

TEST_CASE("average_step copies at first, and moves by the rate later") {
  for (const std::int64_t count : counts) {
    if (testing::slow_device() && count > 1000) continue;
    CAPTURE(count);
    const Arena arena(std::vector<double>(static_cast<std::size_t>(count), 7), 3);
    const Tensor hyper = ops::make_hyper(Device()), progress = ops::make_progress(Device());
    ops::write_hyper(hyper, 0.25, 0);
    std::vector<double> expected;
    for (int step = 0; step < 4; ++step) {
      const std::vector<double> p = random_values(static_cast<std::uint64_t>(20 + step), count);
      ops::advance_step(progress, hyper);
      ops::average_step(arena.part, tensor_of(p, {count}), hyper, progress);
      if (step == 0) expected = p;
      for (std::size_t i = 0; i < p.size(); ++i) expected[i] += 0.25 * (p[i] - expected[i]);
    }
    check_close(arena.part, {count}, expected, {8, 1});
    CHECK(arena.guards() == doctest::Approx(0).epsilon(1e-4));
  }
}

TEST_CASE("rmsprop_step follows PyTorch's formula") {
  // A centered rule needs a larger eps: v - a^2 cancels to nothing at the first step, in double as in float.
  struct Case {
    bool centered, momentum;
    ops::RmspropRule rule;
  };
  for (const Case& c : {Case{false, false, {}}, Case{false, true, {0.9, 1e-6, 0.1}}, Case{true, false, {0.9, 0.1, 0}},
                        Case{true, true, {0.5, 0.1, 0.1, true}}}) {
    for (const std::int64_t count : counts) {
      const Tensor squares = zeros({count});
      const Tensor means = c.centered ? zeros({count}) : Tensor();
      const Tensor momenta = c.momentum ? zeros({count}) : Tensor();
      check_steps(
          count, 0,
          [&](const Tensor& p, const Tensor& g, const Tensor& hyper, const Tensor&) {
            ops::rmsprop_step(p, g, squares, means, momenta, hyper, c.rule);
          },
          [&](OptimizerState& state, const std::vector<double>& g, double lr) {
            reference::rmsprop_step(state, g, lr, c.momentum ? 0.9 : 0, c.centered, c.rule);
          });
    }
  }
}

TEST_CASE("Momenta may have the type of gradients that are halves, and are rounded to it") {
  for (const DType type : {DType::bf16, DType::f16})
    for (const bool is_sgd : {true, false})
      for (const std::int64_t count : {15, 1000}) {
        CAPTURE(type);
        CAPTURE(is_sgd);
        const Tensor start = tensor_of(random_values(1, count), {count}), momenta = zeros({count}, type),
                     squares = zeros({count}), hyper = ops::make_hyper(Device()),
                     progress = ops::make_progress(Device());
        ops::write_hyper(hyper, 0.1, 0.9);
        for (std::uint64_t step = 0; step < 3; ++step) {
          ops::advance_step(progress, hyper);
          const Tensor g = tensor_of(random_values(10 + step, count), {count}, type), wide = momenta.to(DType::f32),
                       before = squares.clone(), p = start.clone(), expected = start.clone();
          const auto take = [&](const Tensor& parameters, const Tensor& b, const Tensor& v) {
            if (is_sgd) return ops::sgd_step(parameters, g, b, hyper, progress);
            ops::rmsprop_step(parameters, g, v, Tensor(), b, hyper);
          };
          take(p, momenta, squares);
          take(expected, wide, before);
          CHECK(values_of(p) == values_of(expected));
          CHECK(values_of(momenta) == values_of(wide.to(type)));
        }
      }
}

TEST_CASE("rmsprop_step, centered: a constant gradient gives no NaN") {
  const Tensor p = zeros({40});
  const Tensor squares = zeros({40});
  const Tensor means = zeros({40});
  const Tensor hyper = ops::make_hyper(Device());
  ops::write_hyper(hyper, 0.001, 0);
  for (int step = 0; step < 30; ++step)
    ops::rmsprop_step(p, full({40}, 0.3), squares, means, Tensor(), hyper, {0.5, 1e-8, 0});
  for (const float value : p.to_vector<float>()) CHECK(std::isfinite(value));
}

TEST_CASE("advance_step: bias corrections for small and large t") {
  const Tensor hyper = ops::make_hyper(Device());
  for (const double beta1 : {0.0, 0.5, 0.9, 0.95}) {
    for (const double beta2 : {0.0, 0.9, 0.999, 0.9999}) {
      ops::write_hyper(hyper, 0.1, beta1);
      for (const double before : {0.0, 1.0, 9.0, 998.0, 20000.0, 16777214.0}) {
        const Tensor progress = tensor_of({before, 0, 0, 0}, {4});
        ops::advance_step(progress, hyper, beta2);
        const std::vector<double> got = values_of(progress);
        const double t = before + 1;
        CHECK(got[0] == t);
        CHECK(got[1] == doctest::Approx(1 - std::pow(beta1, t)).epsilon(5e-7));
        CHECK(got[2] == doctest::Approx(std::sqrt(1 - std::pow(beta2, t))).epsilon(5e-7));
      }
    }
  }
}

TEST_CASE("optimiser steps refuse bad arguments and change nothing") {
  const Tensor p = ones({8});
  const Tensor g = ones({8});
  const Tensor b = ones({8});
  const Tensor hyper = ops::make_hyper(Device());
  const Tensor progress = ops::make_progress(Device());
  ops::write_hyper(hyper, 0.1, 0.9);
  check_error([&] { ops::sgd_step(p, ones({7}), b, hyper, progress); }, {"[sgd_step]", "gradients", "7", "8"});
  check_error([&] { ops::sgd_step(p, g, ones({8}, DType::f16), hyper, progress); }, {"[sgd_step]", "momenta", "f16"});
  check_error(
      [&] {
        ops::sgd_step(p, ops::narrow(ones({8, 2}), 1, 0, 1), b, hyper, progress);
      },
      {"[sgd_step]", "contiguous", "(8, 1)"});
  check_error([&] { ops::sgd_step(p, g, b, ones({3}), progress); }, {"[sgd_step]", "hyper", "(3)"});
  check_error([&] { ops::sgd_step(p, g, b, hyper, progress, {0, -1, false}); }, {"[sgd_step]", "weight_decay is -1"});
  check_error([&] { ops::sgd_step(p, g, Tensor(), hyper, progress, {0, 0, true}); }, {"[sgd_step]", "Nesterov"});
  check_error([&] { ops::sgd_step(p, g, b, hyper, progress, {0.5, 0, true}); }, {"[sgd_step]", "dampening is 0.5"});
  check_error([&] { ops::sgd_step(p, g, b, hyper, progress, {2, 0, false}); }, {"[sgd_step]", "dampening is 2"});
  check_error([&] { ops::adam_step(p, g, b, ones({9}), {}, hyper, progress); }, {"[adam_step]", "squares", "9"});
  check_error([&] { ops::adam_step(p, g, b, b, {}, hyper, progress, {1.0}); }, {"[adam_step]", "beta2 is 1"});
  check_error([&] { ops::rmsprop_step(p, g, b, b, b, hyper, {1.5}); }, {"[rmsprop_step]", "alpha is 1.5"});
  check_error([&] { ops::write_hyper(hyper, -1, 0); }, {"[write_hyper]", "learning rate is -1"});
  check_error([&] { ops::write_hyper(hyper, std::numeric_limits<double>::quiet_NaN(), 0); }, {"[write_hyper]", "nan"});
  check_error([&] { ops::write_hyper(hyper, 1, 1); }, {"[write_hyper]", "momentum", "1"});
  check_error([&] { ops::global_norm({}); }, {"[global_norm]", "no tensors"});
  check_error([&] { ops::scale_by_clip(p, ones({2}), 1); }, {"[scale_by_clip]", "(2)"});
  check_error([&] { ops::scale_by_clip(p, ones({}), -1); }, {"[scale_by_clip]", "max_norm is -1"});
  for (const Tensor& tensor : {p, g, b})
    for (const float value : tensor.to_vector<float>()) CHECK(value == 1.0f);
  CHECK(values_of(progress) == std::vector<double>(4, 0.0));
}

TEST_CASE("global_norm: of one and several tensors, the same bits each time") {
  for (const std::int64_t count : {0, 1, 17, 4096, testing::slow_device() ? 5000 : 300001}) {
    CAPTURE(count);
    const std::vector<double> a = random_values(3, count);
    const std::vector<double> b = random_values(4, 77);
    std::vector<double> all = a;
    all.insert(all.end(), b.begin(), b.end());
    const Arena arena(a, 1);
    const std::vector<Tensor> parts{arena.part, tensor_of(b, {7, 11})};
    const Tensor norm = ops::global_norm(parts);
    CHECK(norm.shape() == Shape{});
    CHECK(norm.item<double>() == doctest::Approx(reference::norm(all)).epsilon(2e-6));
    CHECK(norm.item<float>() == ops::global_norm(parts).item<float>());
  }
  if (testing::slow_device()) return;
  // A plain sum in float would be wrong by 1e-4 here.
  CHECK(ops::global_norm({full({1 << 24}, 0.1)}).item<double>() ==
        doctest::Approx(4096 * static_cast<double>(0.1f)).epsilon(2e-6));
}

TEST_CASE("scale_by_clip scales down only, as PyTorch's clip_grad_norm_") {
  for (const std::int64_t count : {1, 17, 3000}) {
    const std::vector<double> values = random_values(5, count);
    const double norm = reference::norm(values);
    for (const double max_norm : {norm / 3, norm * 2, 0.0}) {
      const Arena arena(values, 2);
      ops::scale_by_clip(arena.part, ops::global_norm({arena.part}), max_norm);
      std::vector<double> expected = values;
      for (double& value : expected) value *= std::min(1.0, max_norm / (norm + 1e-6));
      // The norm's error, and three roundings.
      check_close(arena.part, expected, {20});
      CHECK(arena.guards() == doctest::Approx(0).epsilon(1e-4));
    }
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = tensor_of({1, nan}, {2});
  ops::scale_by_clip(x, ops::global_norm({x}), 1);
  check_close(x, {nan, nan}, {0});
}

}  // namespace crisol
