// Learning-rate schedules, compared with values of PyTorch's formulas.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>

#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_error;
using testing::tensor_of;

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

TEST_CASE("OneCycleLR along lines, and with three phases") {
  optim::SGD optimizer(one_parameter(), 1);
  optim::OneCycleOptions options;
  options.linear = options.three_phase = true;
  optim::OneCycleLR schedule(optimizer, 1.0, 10, options);
  // The peak is at 0.3 * 10 - 1 = 2, the end of the fall at 4, and the end at 9.
  for (const double rate : {0.04, 0.52, 1.0, 0.52, 0.04, 0.0320008, 0.0240016, 0.0160024, 0.0080032, 4e-6}) {
    CHECK(optimizer.lr() == doctest::Approx(rate).epsilon(1e-6));
    schedule.step();
  }
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

namespace {

/// Checks the rates of two groups, whose base rates are 1 and 0.5, after 0, 1, … steps.
void check_rates(const std::function<std::unique_ptr<optim::LRScheduler>(optim::Optimizer&)>& make, int steps,
                 const std::function<double(int step, double base_lr)>& expected) {
  optim::SGD optimizer({{.params = one_parameter()}, {.params = one_parameter(), .lr = 0.5}}, {.lr = 1});
  optim::SGD second({{.params = one_parameter()}, {.params = one_parameter()}}, {.lr = 3});
  const auto schedule = make(optimizer), resumed = make(second);
  for (int step = 0; step <= steps; ++step) {
    CAPTURE(step);
    CHECK(optimizer.param_groups()[0].lr.value() == doctest::Approx(expected(step, 1)).epsilon(1e-12));
    CHECK(optimizer.param_groups()[1].lr.value() == doctest::Approx(expected(step, 0.5)).epsilon(1e-12));
    CHECK(schedule->get_last_lr() ==
          std::vector<double>{*optimizer.param_groups()[0].lr, *optimizer.param_groups()[1].lr});
    resumed->load_state_dict(schedule->state_dict());
    CHECK(resumed->get_last_lr() == schedule->get_last_lr());
    CHECK(resumed->steps() == step);
    schedule->step();
  }
}

}  // namespace

TEST_CASE("LambdaLR multiplies by a function of the steps") {
  check_rates(
      [](auto& o) {
        return std::make_unique<optim::LambdaLR>(o,
                                                 [](std::int64_t t) { return 1.0 / (1.0 + static_cast<double>(t)); });
      },
      5, [](int t, double base) { return base / (1 + t); });
  check_rates(
      [](auto& o) {
        return std::make_unique<optim::LambdaLR>(
            o, std::vector<optim::LambdaLR::Factor>{[](std::int64_t) { return 2.0; },
                                                    [](std::int64_t t) { return static_cast<double>(t); }});
      },
      3, [](int t, double base) { return base == 1 ? 2.0 : 0.5 * t; });
  optim::SGD optimizer(one_parameter(), 1);
  check_error([&] { optim::LambdaLR(optimizer, std::vector<optim::LambdaLR::Factor>(2)); },
              {"[LambdaLR]", "2 functions"});
  check_error([&] { optim::LambdaLR(optimizer, nullptr); }, {"[LambdaLR]", "no function"});
  optim::LambdaLR falls(optimizer, [](std::int64_t t) { return 1.0 - static_cast<double>(t); });
  falls.step();
  check_error([&] { falls.step(); }, {"[SGD]", "learning rate is -1"});
  CHECK(falls.steps() == 1);
  CHECK(optimizer.lr() == 0);
}

TEST_CASE("MultiStepLR, ExponentialLR, ConstantLR and LinearLR have PyTorch's numbers") {
  check_rates(
      [](auto& o) {
        return std::make_unique<optim::MultiStepLR>(o, std::vector<std::int64_t>{2, 3, 6}, 0.5);
      },
      8,
      [](int t, double base) {
        return base * (t < 2 ? 1 : t < 3 ? 0.5 : t < 6 ? 0.25 : 0.125);
      });
  check_rates([](auto& o) { return std::make_unique<optim::ExponentialLR>(o, 0.9); }, 5,
              [](int t, double base) {
                for (int i = 0; i < t; ++i) base *= 0.9;
                return base;
              });
  check_rates([](auto& o) { return std::make_unique<optim::ConstantLR>(o, 0.25, 3); }, 5,
              [](int t, double base) { return t < 3 ? base / 4 : base; });
  // torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=4): its documentation's numbers.
  const double factors[] = {0.5, 0.625, 0.75, 0.875, 1, 1, 1};
  check_rates([](auto& o) { return std::make_unique<optim::LinearLR>(o, 0.5, 1, 4); }, 6,
              [&](int t, double base) { return base * factors[t]; });
  optim::SGD optimizer(one_parameter(), 1);
  check_error([&] { optim::MultiStepLR(optimizer, {3, 2}); }, {"[MultiStepLR]", "milestone 2 at place 1"});
  check_error([&] { optim::ConstantLR(optimizer, 2); }, {"[ConstantLR]", "factor 2"});
  check_error([&] { optim::LinearLR(optimizer, 0); }, {"[LinearLR]", "start_factor 0"});
  check_error([&] { optim::LinearLR(optimizer, 1, 2); }, {"[LinearLR]", "end_factor 2"});
  check_error([&] { optim::LinearLR(optimizer, 1, 1, 0); }, {"[LinearLR]", "total_iters 0"});
}

TEST_CASE("CosineAnnealingWarmRestarts begins anew after runs that grow") {
  // Runs of 2, 6 and 18 steps begin at 0, 2 and 8.
  check_rates(
      [](auto& o) { return std::make_unique<optim::CosineAnnealingWarmRestarts>(o, 2, 3, 0.1); }, 26,
      [](int t, double base) {
        const int first = t < 2 ? 0 : t < 8 ? 2 : t < 26 ? 8 : 26, length = t < 2 ? 2 : t < 8 ? 6 : t < 26 ? 18 : 54;
        return 0.1 + (base - 0.1) * (1 + std::cos(std::numbers::pi * (t - first) / length)) / 2;
      });
  check_rates([](auto& o) { return std::make_unique<optim::CosineAnnealingWarmRestarts>(o, 3); }, 9,
              [](int t, double base) { return base * (1 + std::cos(std::numbers::pi * (t % 3) / 3)) / 2; });
  optim::SGD optimizer(one_parameter(), 1);
  check_error([&] { optim::CosineAnnealingWarmRestarts(optimizer, 0); }, {"t_0 0"});
  check_error([&] { optim::CosineAnnealingWarmRestarts(optimizer, 1, 0); }, {"t_mult 0"});
}

TEST_CASE("SequentialLR runs one schedule after another, each from its own step 0") {
  const auto make = [](optim::Optimizer& o) {
    return std::make_unique<optim::SequentialLR>(
        o,
        std::vector<std::shared_ptr<optim::LRScheduler>>{std::make_shared<optim::LinearLR>(o, 0.1, 1, 3),
                                                         std::make_shared<optim::CosineAnnealingLR>(o, 4),
                                                         std::make_shared<optim::ConstantLR>(o, 0.5, 1)},
        std::vector<std::int64_t>{3, 7});
  };
  check_rates(make, 10, [](int t, double base) {
    if (t < 3) return base * (0.1 + 0.9 * t / 3);
    if (t < 7) return base * (1 + std::cos(std::numbers::pi * (t - 3) / 4)) / 2;
    return t == 7 ? base / 2 : base;
  });
  optim::SGD optimizer(one_parameter(), 1), other(one_parameter(), 1);
  const auto one = std::make_shared<optim::StepLR>(optimizer, 1);
  check_error([&] { optim::SequentialLR(optimizer, {one}, {1}); }, {"[SequentialLR]", "1 schedules need 0 milestones"});
  check_error([&] { optim::SequentialLR(optimizer, {one, nullptr}, {1}); }, {"null"});
  check_error([&] { optim::SequentialLR(other, {one}, {}); }, {"another optimiser"});
  check_error([&] { optim::SequentialLR(optimizer, {one, one}, {-1}); }, {"milestone -1"});
  const auto schedule = make(optimizer);
  schedule->set_steps(5);
  NamedTensors state = schedule->state_dict();
  state.back().second = tensor_of({-1, 0, 0}, {3});
  const std::vector<double> before = schedule->get_last_lr();
  check_error([&] { schedule->load_state_dict(state); }, {"lr is -1"});
  CHECK(schedule->steps() == 5);
  CHECK(optimizer.lr() == before[0]);
}

TEST_CASE("a schedule starts from the present rate") {
  optim::SGD optimizer(one_parameter(), 1);
  const optim::LinearLR warm_up(optimizer, 0.5);
  CHECK(optimizer.lr() == 0.5);
  const optim::ExponentialLR after(optimizer, 0.5);
  CHECK(optimizer.lr() == 0.5);
  optimizer.set_lr(0.25);
  const optim::LinearLR again(optimizer, 0.5);
  CHECK(optimizer.lr() == 0.125);
}

TEST_CASE("groups that are added later keep their own rates") {
  optim::SGD optimizer(one_parameter(), 1);
  optim::ExponentialLR schedule(optimizer, 0.5);
  optimizer.add_param_group({.params = one_parameter(), .lr = 0.7});
  schedule.step();
  CHECK(optimizer.param_groups()[0].lr == 0.5);
  CHECK(optimizer.param_groups()[1].lr == 0.7);
}

TEST_CASE("OneCycleLR takes a highest rate for each group, and leaves groups without momentum") {
  optim::SGD optimizer({{.params = one_parameter(), .momentum = 0.9}, {.params = one_parameter()}});
  const optim::OneCycleLR schedule(optimizer, std::vector<double>{1, 2}, 10);
  CHECK(schedule.get_last_lr()[0] == doctest::Approx(0.04));
  CHECK(schedule.get_last_lr()[1] == doctest::Approx(0.08));
  CHECK(optimizer.param_groups()[0].momentum == doctest::Approx(0.95));
  CHECK(optimizer.param_groups()[1].momentum == 0.0);
  check_error([&] { optim::OneCycleLR(optimizer, std::vector<double>{1}, 10); },
              {"[OneCycleLR]", "1 rates for 2 groups"});
}

TEST_CASE("ReduceLROnPlateau lowers the rates when a metric stays") {
  optim::SGD optimizer({{.params = one_parameter()}, {.params = one_parameter(), .lr = 0.5}}, {.lr = 1});
  optim::ReduceLROnPlateau schedule(optimizer,
                                    {.factor = 0.5, .patience = 1, .threshold = 0.1, .cooldown = 2, .min_lr = 0.2});
  // 0.95 is not 10 % better than 1. The second bad metric lowers the rates, and the next two do not count.
  const double metrics[] = {1, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.5, 0.5, std::nan(""), 0.3, 0.3, 0.3, 0.3};
  const double rates[] = {1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.2, 0.2};
  for (std::size_t i = 0; i < std::size(metrics); ++i) {
    CAPTURE(i);
    schedule.step(metrics[i]);
    CHECK(schedule.get_last_lr() == std::vector<double>{rates[i], std::max(rates[i] / 2, 0.2)});
  }
  CHECK(schedule.best() == 0.3);

  optim::SGD climbing(one_parameter(), 1), second(one_parameter(), 1);
  const optim::ReduceLROnPlateauOptions options{
      .mode = "max", .factor = 0.5, .patience = 2, .threshold = 0.5, .threshold_mode = "abs"};
  optim::ReduceLROnPlateau rises(climbing, options), resumed(second, options);
  CHECK(rises.best() == -std::numeric_limits<double>::infinity());
  resumed.load_state_dict(rises.state_dict());
  CHECK(resumed.best() == rises.best());
  for (const double metric : {1.0, 1.4, 1.5}) rises.step(metric);  // 1.5 is no more than 0.5 better than 1.
  CHECK(rises.best() == 1);
  resumed.load_state_dict(rises.state_dict());
  CHECK(second.lr() == 1);
  resumed.step(1.5);
  CHECK(second.lr() == 0.5);
}

TEST_CASE("ReduceLROnPlateau refuses bad options and states") {
  optim::SGD optimizer(one_parameter(), 1);
  const auto refused = [&](const optim::ReduceLROnPlateauOptions& options, const char* text) {
    check_error([&] { optim::ReduceLROnPlateau(optimizer, options); }, {"[ReduceLROnPlateau]", text});
  };
  refused({.mode = "least"}, "mode 'least'");
  refused({.factor = 1}, "factor 1");
  refused({.patience = -1}, "patience -1");
  refused({.threshold = -1}, "threshold -1");
  refused({.threshold_mode = "x"}, "threshold_mode 'x'");
  refused({.cooldown = -1}, "cooldown -1");
  refused({.min_lr = -1}, "min_lr -1");
  optim::ReduceLROnPlateau schedule(optimizer);
  NamedTensors state = schedule.state_dict();
  state[1].second = from_vector(std::vector<std::int64_t>{-1}, Shape{});
  check_error([&] { schedule.load_state_dict(state); }, {"[load_state_dict]", "bad is -1"});
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
