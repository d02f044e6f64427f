// Schedules that run together, and rates that are set by hand: a schedule multiplies the present rate. The expected
// rates are PyTorch's.
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "crisol/optim.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using optim::LRScheduler;
using testing::check_error;
using Schedules = std::vector<std::shared_ptr<LRScheduler>>;
using Rates = std::map<int, double>;  // By step.

std::vector<Tensor> one_parameter() { return {ones({2}).requires_grad_()}; }

template <class Schedule, class... Arguments>
std::shared_ptr<LRScheduler> made(optim::Optimizer& optimizer, Arguments... arguments) {
  return std::make_shared<Schedule>(optimizer, arguments...);
}

/// Checks the rates of a group with the first rate 1. `by_hand` are rates that are set before the schedules' steps. In
/// each step a second run goes on from the states of the first one.
void check_rates(const std::function<Schedules(optim::Optimizer&)>& make, const std::vector<double>& expected,
                 const Rates& by_hand = {}) {
  optim::SGD optimizer({{.params = one_parameter()}, {.params = one_parameter(), .lr = 0.5}}, 1.0);
  optim::SGD second({{.params = one_parameter()}, {.params = one_parameter()}}, 7.0);
  const Schedules schedules = make(optimizer), resumed = make(second);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    CAPTURE(step);
    CHECK(optimizer.lr() == doctest::Approx(expected[step]).epsilon(1e-13));
    for (std::size_t k = 0; k < schedules.size(); ++k) resumed[k]->load_state_dict(schedules[k]->state_dict());
    CHECK(second.lr() == optimizer.lr());
    CHECK(second.param_groups()[1].lr == optimizer.param_groups()[1].lr);
    const auto hand = by_hand.find(static_cast<int>(step));
    for (optim::Optimizer* const one :
         {static_cast<optim::Optimizer*>(&optimizer), static_cast<optim::Optimizer*>(&second)})
      if (hand != by_hand.end()) one->set_lr(hand->second);
    for (const auto& schedule : schedules) schedule->step();
    for (const auto& schedule : resumed) schedule->step();
    CHECK(second.lr() == optimizer.lr());
    CHECK(resumed.back()->get_last_lr() == schedules.back()->get_last_lr());
  }
}

}  // namespace

TEST_CASE("schedules that run together multiply the rate") {
  optim::SGD optimizer(one_parameter(), 0.1);
  optim::ExponentialLR decay(optimizer, 0.9);
  optim::MultiStepLR milestones(optimizer, {2}, 0.1);
  for (const double expected : {0.09, 0.0081, 0.00729, 0.006561}) {
    decay.step();
    milestones.step();
    CHECK(optimizer.lr() == doctest::Approx(expected).epsilon(1e-13));
  }
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::ConstantLR>(o, 0.25, 3), made<optim::ExponentialLR>(o, 0.9)};
      },
      {0.25, 0.225, 0.2025, 0.729, 0.6561, 0.59049});
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::LinearLR>(o, 0.5, 1.0, 4), made<optim::StepLR>(o, 2, 0.5)};
      },
      {0.5, 0.625, 0.375, 0.4375, 0.25, 0.25, 0.125});
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::CosineAnnealingLR>(o, 4, 0.1), made<optim::ExponentialLR>(o, 0.9)};
      },
      {1.0, 0.781378246380552, 0.449227922061358, 0.182057841172876, 0.09, 0.199621753619448, 0.39611694808342,
       0.544952925087724, 0.559165300017856, 0.442729888805717, 0.27068986856859});
}

TEST_CASE("a rate that is set by hand stays, and is multiplied") {
  check_rates([](auto& o) { return Schedules{made<optim::StepLR>(o, 2, 0.5)}; }, {1, 1, 0.5, 0.8, 0.4, 0.4},
              {{2, 0.8}});
  check_rates([](auto& o) { return Schedules{made<optim::CosineAnnealingLR>(o, 4, 0.1)}; },
              {1, 0.868198051533946, 0.55, 0.305025253169417, 0.1, 0.231801948466054, 0.55, 0.868198051533947, 1},
              {{2, 0.8}});
  // A function of the steps replaces it.
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::LambdaLR>(o, [](std::int64_t t) { return 1.0 / (1.0 + static_cast<double>(t)); })};
      },
      {1, 0.5, 1.0 / 3, 0.25, 0.2}, {{2, 0.8}});
  optim::SGD optimizer(one_parameter(), 0.1);
  optim::StepLR schedule(optimizer, 2, 0.5);
  schedule.step();
  optimizer.set_param_group(0, {.lr = 0.8});
  optim::ExponentialLR later(optimizer, 0.5);
  CHECK(optimizer.lr() == 0.8);
  later.set_steps(1);  // The formula, from the rate that the first schedule saw.
  CHECK(optimizer.lr() == doctest::Approx(0.05));
}

TEST_CASE("equal milestones count each, and skip the schedule between them") {
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::MultiStepLR>(o, std::vector<std::int64_t>{2, 2, 3}, 0.5)};
      },
      {1, 1, 0.25, 0.125, 0.125});
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::MultiStepLR>(o, std::vector<std::int64_t>{0, 1}, 0.5)};
      },
      {0.5, 0.25, 0.25});
  check_rates(
      [](auto& o) {
        return Schedules{
            made<optim::SequentialLR>(o,
                                      Schedules{made<optim::ExponentialLR>(o, 0.9), made<optim::ConstantLR>(o, 0.5, 2),
                                                made<optim::ExponentialLR>(o, 0.5)},
                                      std::vector<std::int64_t>{2, 2})};
      },
      {1, 0.9, 1, 0.5, 0.25, 0.125});
  optim::SGD optimizer(one_parameter(), 1);
  check_error([&] { optim::MultiStepLR(optimizer, {-1}); }, {"[MultiStepLR]", "milestone -1"});
}

TEST_CASE("SequentialLR goes on from the present rate, and starts each schedule from its formula") {
  check_rates(
      [](auto& o) {
        return Schedules{made<optim::SequentialLR>(
            o,
            Schedules{made<optim::LinearLR>(o, 0.1, 1.0, 3), made<optim::CosineAnnealingLR>(o, 4),
                      made<optim::ConstantLR>(o, 0.5, 1)},
            std::vector<std::int64_t>{3, 7})};
      },
      {0.1, 0.4, 1.4, 1.0, 0.853553390593274, 0.351471862576143, 0.102943725152286, 0.5, 1, 1}, {{1, 0.8}, {4, 0.6}});
}

TEST_CASE("a factor of 0 leads back to the base rate") {
  optim::SGD optimizer(one_parameter(), 0.3);
  optim::ConstantLR schedule(optimizer, 0, 2);
  for (const double expected : {0.0, 0.0, 0.3, 0.3}) {
    CHECK(optimizer.lr() == expected);
    schedule.step();
  }
}

TEST_CASE("states of version 0.2 have no rates: the formula gives them") {
  optim::SGD optimizer(one_parameter(), 1), other(one_parameter(), 5);
  const auto make = [](optim::Optimizer& o) {
    return optim::SequentialLR(o, {made<optim::LinearLR>(o, 0.5, 1.0, 2), made<optim::ExponentialLR>(o, 0.5)}, {2});
  };
  optim::SequentialLR schedule = make(optimizer), resumed = make(other);
  for (int i = 0; i < 4; ++i) schedule.step();
  NamedTensors old;
  for (const auto& [name, tensor] : schedule.state_dict())
    if (name.size() < 3 || name.compare(name.size() - 3, 3, ".lr") != 0) old.emplace_back(name, tensor);
  CHECK(old.size() == 5);
  resumed.load_state_dict(old);
  CHECK(resumed.steps() == 4);
  CHECK(other.lr() == doctest::Approx(0.25));
}

}  // namespace crisol
