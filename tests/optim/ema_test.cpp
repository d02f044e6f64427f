// The moving average of parameters, compared with a computation in double.
#include "crisol/optim/ema.h"

#include <cmath>
#include <memory>
#include <vector>

#include "crisol/capture.h"
#include "crisol/device.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/reduce.h"
#include "crisol/grad_mode.h"
#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::random_values;
using testing::tensor_of;
using testing::values_of;

const Shape shapes[] = {{5, 3}, {130}, {1}};

std::vector<double> values_at(int step, std::size_t i) {
  return random_values(static_cast<std::uint64_t>(step) * 10 + i, shapes[i].numel());
}

std::vector<Tensor> make_parameters() {
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < std::size(shapes); ++i)
    parameters.push_back(tensor_of(values_at(0, i), shapes[i]).requires_grad_());
  return parameters;
}

void set_values(const std::vector<Tensor>& parameters, int step) {
  const NoGrad no_grad;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Tensor p = parameters[i];
    p.copy_from(tensor_of(values_at(step, i), shapes[i]));
  }
}

// The first update copies.
std::vector<double> average(std::size_t i, int updates, double decay) {
  std::vector<double> result = values_at(1, i);
  for (int step = 2; step <= updates; ++step)
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = decay * result[k] + (1 - decay) * values_at(step, i)[k];
  return result;
}

}  // namespace

TEST_CASE("EMA keeps averages of two-byte parameters in f32") {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Tensor p = tensor_of(values_at(0, 1), shapes[1], dtype).requires_grad_();
    optim::EMA ema({p}, {.decay = 0.7});
    std::vector<double> expected;
    for (int step = 1; step <= 4; ++step) {
      const NoGrad no_grad;
      p.copy_from(tensor_of(values_at(step, 1), shapes[1], dtype));
      const std::vector<double> values = values_of(p);
      if (step == 1) expected = values;
      for (std::size_t k = 0; k < values.size(); ++k) expected[k] = 0.7 * expected[k] + 0.3 * values[k];
      ema.update();
    }
    CHECK(ema.averages()[0].dtype() == DType::f32);
    check_close(ema.averages()[0], shapes[1], expected, {8, 1});
    const std::vector<double> own = values_of(p);
    ema.apply();
    CHECK(values_of(p) == values_of(ema.averages()[0].to(dtype)));
    ema.restore();
    CHECK(values_of(p) == own);
  }
}

TEST_CASE("EMA keeps averages in f64 if a parameter is f64") {
  if (!Device().info().fp64) return;
  const double decay = 0.7, step_size = 1e-12;  // f32 would lose the steps.
  const Tensor p = ones({3}, DType::f64).requires_grad_(), q = ones({2}).requires_grad_();
  optim::EMA ema({p, q}, {.decay = decay}), again({p, q}, {.decay = decay});
  double expected = 1;
  for (int step = 1; step <= 3; ++step) {
    const NoGrad no_grad;
    Tensor(p).add_(step_size);
    Tensor(q).add_(1.0);
    expected = step == 1 ? 1 + step_size : decay * expected + (1 - decay) * (1 + step * step_size);
    ema.update();
  }
  CHECK(ema.averages()[0].dtype() == DType::f64);
  CHECK(std::abs(values_of(ema.averages()[0])[2] - expected) < 1e-15);
  check_close(ema.averages()[1], {2}, std::vector<double>(2, 2 * decay * decay + 3 * 0.21 + 4 * 0.3), {4});
  again.load_state_dict(ema.state_dict());
  CHECK(values_of(again.averages()[0]) == values_of(ema.averages()[0]));
  ema.apply();
  CHECK(values_of(p) == values_of(ema.averages()[0]));
  ema.restore();
  CHECK(std::abs(values_of(p)[0] - 1 - 3 * step_size) < 1e-15);
}

TEST_CASE("EMA averages parameters in and outside of an optimiser's arena") {
  for (const bool in_arena : {false, true}) {
    CAPTURE(in_arena);
    const std::vector<Tensor> p = make_parameters();
    std::unique_ptr<optim::SGD> optimizer;
    if (in_arena) optimizer = std::make_unique<optim::SGD>(p);
    optim::EMA ema({p[0], p[1], p[2], p[0]}, {.decay = 0.7});  // A parameter that is named twice counts once.
    REQUIRE(ema.averages().size() == 3);
    check_close(ema.averages()[1], {130}, values_at(0, 1), {0});
    for (int step = 1; step <= 4; ++step) {
      set_values(p, step);
      ema.update();
    }
    for (std::size_t i = 0; i < p.size(); ++i) check_close(ema.averages()[i], shapes[i], average(i, 4, 0.7), {8, 1});
    ema.apply();
    for (std::size_t i = 0; i < p.size(); ++i) check_close(p[i], shapes[i], average(i, 4, 0.7), {8, 1});
    check_error([&] { ema.update(); }, {"[EMA]", "restore() first"});
    check_error([&] { ema.apply(); }, {"[EMA]", "already"});
    check_error([&] { ema.load_state_dict(ema.state_dict()); }, {"[EMA]", "restore() first"});
    ema.restore();
    for (std::size_t i = 0; i < p.size(); ++i) check_close(p[i], shapes[i], values_at(4, i), {0});
    check_error([&] { ema.restore(); }, {"[EMA]", "apply() was not called"});
  }
}

TEST_CASE("EMA: an update of an arena is one launch, and is repeated by a replay") {
  const std::vector<Tensor> p = make_parameters();
  const optim::SGD optimizer(p);
  optim::EMA ema(p, {.decay = 0.5});
  const CapturedGraph update = capture([&] { ema.update(); });
  CHECK(update.size() == 2);  // One of them counts.
  set_values(p, 1);
  update.replay();
  // The update that was recorded was the first one: it copied.
  std::vector<double> expected = values_at(0, 1);
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] = (expected[k] + values_at(1, 1)[k]) / 2;
  check_close(ema.averages()[1], {130}, expected, {4, 1});
}

TEST_CASE("EMA: parameters may move into an arena between updates, and while the averages are applied") {
  const std::vector<Tensor> p = make_parameters();
  optim::EMA ema(p, {.decay = 0.5});
  set_values(p, 1);
  ema.update();
  ema.apply();
  const optim::SGD optimizer(p);
  ema.restore();
  set_values(p, 2);
  ema.update();
  for (std::size_t i = 0; i < p.size(); ++i) check_close(ema.averages()[i], shapes[i], average(i, 2, 0.5), {4, 1});
}

TEST_CASE("EMA: applying the averages is a change in place") {
  const std::vector<Tensor> p = make_parameters();
  const optim::SGD optimizer(p);
  optim::EMA ema(p);
  const Tensor loss = sum(mul(p[0], p[0]));
  ema.apply();
  check_error([&] { loss.backward(); }, {"[backward]", "changed in place"});
}

TEST_CASE("EMA: the state comes back, and others are refused") {
  const std::vector<Tensor> p = make_parameters();
  optim::EMA one(p, {.decay = 0.9}), two(p, {.decay = 0.9});
  for (int step = 1; step <= 2; ++step) {
    set_values(p, step);
    one.update();
  }
  two.load_state_dict(one.state_dict());
  for (int step = 3; step <= 4; ++step) {
    set_values(p, step);
    one.update();
    two.update();
  }
  for (std::size_t i = 0; i < p.size(); ++i) check_close(two.averages()[i], values_of(one.averages()[i]), {0});
  NamedTensors bad;
  for (const auto& [name, tensor] : one.state_dict()) bad.emplace_back(name, ones(tensor.shape()));
  bad.back().second = full({4}, 0.5);
  check_error([&] { two.load_state_dict(bad); }, {"[load_state_dict]", "progress counts 0.5"});
  bad.pop_back();
  check_error([&] { two.load_state_dict(bad); }, {"[load_state_dict]", "missing: progress"});
  for (std::size_t i = 0; i < p.size(); ++i) check_close(two.averages()[i], values_of(one.averages()[i]), {0});
}

TEST_CASE("EMA refuses bad parameters and decays") {
  const Tensor p = ones({2, 3});
  check_error([] { optim::EMA(std::vector<Tensor>{}); }, {"[EMA]", "no parameters"});
  check_error([&] { optim::EMA({p, Tensor()}); }, {"[EMA]", "parameter 1"});
  check_error([&] { optim::EMA({p.transpose(0, 1)}); }, {"[EMA]", "parameter 0", "contiguous"});
  check_error([&] { optim::EMA({ones({2}, DType::i32)}); }, {"[EMA]", "parameter 0", "f32"});
  check_error([&] { optim::EMA({p}, {.decay = 1.5}); }, {"[EMA]", "decay 1.5"});
}

}  // namespace crisol
