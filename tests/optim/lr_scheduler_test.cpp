// Learning-rate schedules, compared with values of PyTorch's formulas.
#include <cmath>
#include <numbers>

#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_error;

std::vector<Tensor> one_parameter() { return {ones({2}).requires_grad_()}; }

}  // namespace

TEST_CASE("StepLR multiplies by gamma every step_size steps") {
  optim::SGD optimizer(one_parameter(), {0.8});
  optim::StepLR schedule(optimizer, 3, 0.5);
  for (const double expected : {0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.2}) {
    CHECK(optimizer.lr() == doctest::Approx(expected));
    schedule.step();
  }
  CHECK(schedule.steps() == 7);
  schedule.set_steps(9);
  CHECK(optimizer.lr() == doctest::Approx(0.1));
  check_error([&] { optim::StepLR(optimizer, 0); }, {"[StepLR]", "0"});
  check_error([&] { schedule.set_steps(-1); }, {"-1"});
  CHECK(schedule.steps() == 9);
}

TEST_CASE("CosineAnnealingLR falls along half a cosine") {
  optim::SGD optimizer(one_parameter(), {1.0});
  optim::CosineAnnealingLR schedule(optimizer, 4, 0.2);
  // 0.2 + 0.8 (1 + cos(pi t / 4)) / 2.
  for (const double expected : {1.0, 0.88284271247, 0.6, 0.31715728753, 0.2}) {
    CHECK(optimizer.lr() == doctest::Approx(expected));
    schedule.step();
  }
  check_error([&] { optim::CosineAnnealingLR(optimizer, 0); }, {"[CosineAnnealingLR]", "0"});
}

TEST_CASE("OneCycleLR rises, falls, and moves beta1 the other way") {
  optim::Adam optimizer(one_parameter(), {0.5});
  optim::OneCycleLR schedule(optimizer, 1.0, 11, {0.4545454545454545, 25, 1e4, true, 0.85, 0.95});
  // The peak is at 0.4545… * 11 - 1 = 4, the end at 10.
  const auto cosine = [](double from, double to, double share) {
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
  };
  for (int t = 0; t <= 10; ++t) {
    CAPTURE(t);
    const bool rises = t <= 4;
    const double share = rises ? t / 4.0 : (t - 4) / 6.0;
    CHECK(optimizer.lr() == doctest::Approx(rises ? cosine(0.04, 1, share) : cosine(1, 4e-6, share)).epsilon(1e-9));
    CHECK(optimizer.momentum() == doctest::Approx(rises ? cosine(0.95, 0.85, share) : cosine(0.85, 0.95, share)));
    schedule.step();
  }
  check_error([&] { schedule.step(); }, {"[OneCycleLR]", "12", "11"});
  CHECK(schedule.steps() == 11);
}

TEST_CASE("OneCycleLR leaves the momentum of optimisers without one, and when told to") {
  optim::SGD plain(one_parameter(), {0.5});
  optim::OneCycleLR plain_schedule(plain, 1.0, 10);
  CHECK(plain.momentum() == 0);
  CHECK(plain.lr() == doctest::Approx(0.04));
  optim::Adam adam(one_parameter());
  optim::OneCycleOptions options;
  options.cycle_momentum = false;
  optim::OneCycleLR adam_schedule(adam, 1.0, 10, options);
  CHECK(adam.momentum() == 0.9);
  // A cycle of one step, and a cycle whose rise has no steps.
  optim::OneCycleLR(adam, 1.0, 1);
  CHECK(std::isfinite(adam.lr()));
  options.pct_start = 0.1;
  optim::OneCycleLR(adam, 1.0, 10, options);
  CHECK(adam.lr() == doctest::Approx(1));
  check_error([&] { optim::OneCycleLR(adam, 1.0, 0); }, {"[OneCycleLR]", "0"});
  options.pct_start = 1.5;
  check_error([&] { optim::OneCycleLR(adam, 1.0, 10, options); }, {"[OneCycleLR]", "1.5"});
}

TEST_CASE("a schedule goes on from its state, and refuses what is none") {
  optim::Adam first(one_parameter(), {0.1 / 3});
  optim::OneCycleLR schedule(first, 0.2 / 3, 10);
  for (int i = 0; i < 4; ++i) schedule.step();
  optim::Adam second(one_parameter(), {0.5});
  optim::OneCycleLR resumed(second, 0.2 / 3, 10);
  resumed.load_state_dict(schedule.state_dict());
  CHECK(resumed.steps() == 4);
  CHECK(second.lr() == first.lr());
  CHECK(second.momentum() == first.momentum());

  // The base rate comes from the first run, not from the optimiser of the second run.
  optim::SGD plain(one_parameter(), {0.1 / 3}), other(one_parameter(), {0.7});
  optim::StepLR falling(plain, 2, 0.5), resumed_falling(other, 2, 0.5);
  for (int i = 0; i < 3; ++i) falling.step();
  resumed_falling.load_state_dict(falling.state_dict());
  CHECK(other.lr() == plain.lr());

  const auto state = [](std::int64_t steps, double base_lr) {
    return NamedTensors{{"steps", from_vector(std::vector<std::int64_t>{steps}, Shape{})},
                        {"base_lr", from_vector(std::vector<float>{static_cast<float>(base_lr), 0, 0})}};
  };
  check_error([&] { resumed.load_state_dict(state(11, 0.1)); }, {"[OneCycleLR]", "11", "10"});
  check_error([&] { resumed.load_state_dict(state(-1, 0.1)); }, {"-1"});
  check_error([&] { resumed.load_state_dict(state(1, -0.1)); }, {"[load_state_dict]", "base_lr is -0.1"});
  check_error(
      [&] {
        resumed.load_state_dict({{"steps", ones({})}});
      },
      {"different: steps is () i64, given () f32", "missing: base_lr"});
  CHECK(resumed.steps() == 4);
  CHECK(second.lr() == first.lr());
}

TEST_CASE("a schedule changes what the next step does") {
  std::vector<Tensor> p = one_parameter();
  optim::SGD optimizer(p, {1.0});
  optim::StepLR schedule(optimizer, 1, 0.5);
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    p[0].backward(ones({2}));
    optimizer.step();
    schedule.step();
  }
  testing::check_close(p[0], {1 - 1.75, 1 - 1.75}, {0});
}

}  // namespace crisol
