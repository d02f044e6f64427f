// The formulas of the learning-rate schedules.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "crisol/optim/lr_scheduler.h"
#include "optim/milestones.h"

namespace crisol::optim {

namespace {

constexpr double pi = 3.14159265358979323846;

// Goes from `from` at share 0 to `to` at share 1, along half a cosine.
double anneal(double from, double to, double share) { return to + (from - to) / 2 * (1 + std::cos(pi * share)); }

double quotient(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

// A function that multiplies the present rate by a factor.
auto multiplied(double factor) {
  return [factor](double lr, double) { return lr * factor; };
}

// A function that multiplies a group's base rate by a factor.
auto times(double factor) {
  return [factor](std::size_t, double base_lr) { return base_lr * factor; };
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, Factor factor) : LRScheduler(optimizer), factors_(groups(), factor) {
  require(factor != nullptr, "LambdaLR", "there is no function");
  LambdaLR::apply(0);
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> factors)
    : LRScheduler(optimizer), factors_(std::move(factors)) {
  require(factors_.size() == groups(), "LambdaLR", factors_.size(), " functions for ", groups(), " groups");
  for (const Factor& factor : factors_) require(factor != nullptr, "LambdaLR", "a function is empty");
  LambdaLR::apply(0);
}

void LambdaLR::apply(std::int64_t steps) {
  set_rates([&](std::size_t group, double base_lr) { return base_lr * factors_[group](steps); });
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  require(step_size > 0, "StepLR", "step_size ", step_size, " must be positive");
  StepLR::advance(0);
}

void StepLR::apply(std::int64_t steps) { set_rates(times(std::pow(gamma_, static_cast<double>(steps / step_size_)))); }

void StepLR::advance(std::int64_t steps) {
  change_rates(multiplied(steps == 0 || steps % step_size_ != 0 ? 1 : gamma_));
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  check_milestones("MultiStepLR", milestones_);
  MultiStepLR::advance(0);
}

void MultiStepLR::apply(std::int64_t steps) {
  set_rates(times(std::pow(gamma_, static_cast<double>(milestones_passed(milestones_, steps)))));
}

void MultiStepLR::advance(std::int64_t steps) {
  change_rates(multiplied(std::pow(gamma_, static_cast<double>(milestones_at(milestones_, steps)))));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer), gamma_(gamma) {
  ExponentialLR::advance(0);
}

void ExponentialLR::apply(std::int64_t steps) { set_rates(times(std::pow(gamma_, static_cast<double>(steps)))); }

void ExponentialLR::advance(std::int64_t steps) { change_rates(multiplied(steps == 0 ? 1 : gamma_)); }

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters)
    : LRScheduler(optimizer), factor_(factor), total_iters_(total_iters) {
  require(factor >= 0 && factor <= 1, "ConstantLR", "factor ", factor, " is not in [0, 1]");
  ConstantLR::advance(0);
}

void ConstantLR::apply(std::int64_t steps) { set_rates(times(steps < total_iters_ ? factor_ : 1)); }

void ConstantLR::advance(std::int64_t steps) {
  if (steps == 0) {
    change_rates(multiplied(factor_));
  } else if (steps != total_iters_) {
    change_rates(multiplied(1));
  } else {
    // A rate of 0 cannot be multiplied back to the base rate.
    change_rates([this](double lr, double base_lr) { return factor_ == 0 ? base_lr : lr * (1 / factor_); });
  }
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, std::int64_t total_iters)
    : LRScheduler(optimizer), start_factor_(start_factor), end_factor_(end_factor), total_iters_(total_iters) {
  require(start_factor > 0 && start_factor <= 1, "LinearLR", "start_factor ", start_factor, " is not in (0, 1]");
  require(end_factor >= 0 && end_factor <= 1, "LinearLR", "end_factor ", end_factor, " is not in [0, 1]");
  require(total_iters > 0, "LinearLR", "total_iters ", total_iters, " must be positive");
  LinearLR::advance(0);
}

void LinearLR::apply(std::int64_t steps) {
  const double share = quotient(std::min(steps, total_iters_), total_iters_);
  set_rates(times(start_factor_ + (end_factor_ - start_factor_) * share));
}

void LinearLR::advance(std::int64_t steps) {
  double factor = 1;
  if (steps == 0) factor = start_factor_;
  if (steps > 0 && steps <= total_iters_) {
    const double rise = end_factor_ - start_factor_;
    factor = 1 + rise / (static_cast<double>(total_iters_) * start_factor_ + static_cast<double>(steps - 1) * rise);
  }
  change_rates(multiplied(factor));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  require(t_max > 0, "CosineAnnealingLR", "t_max ", t_max, " must be positive");
  CosineAnnealingLR::advance(0);
}

void CosineAnnealingLR::apply(std::int64_t steps) {
  set_rates([&](std::size_t, double base_lr) { return anneal(base_lr, eta_min_, quotient(steps, t_max_)); });
}

void CosineAnnealingLR::advance(std::int64_t steps) {
  const double length = static_cast<double>(t_max_);
  const auto height = [&](std::int64_t step) { return 1 + std::cos(pi * static_cast<double>(step) / length); };
  if (steps == 0) {
    change_rates(multiplied(1));
  } else if ((steps - 1 - t_max_) % (2 * t_max_) == 0) {
    // The rate before was eta_min, so a ratio to it is not defined.
    change_rates(
        [&](double lr, double base_lr) { return lr + (base_lr - eta_min_) * (1 - std::cos(pi / length)) / 2; });
  } else {
    const double ratio = height(steps) / height(steps - 1);
    change_rates([&](double lr, double) { return ratio * (lr - eta_min_) + eta_min_; });
  }
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t t_0, std::int64_t t_mult,
                                                         double eta_min)
    : LRScheduler(optimizer), t_0_(t_0), t_mult_(t_mult), eta_min_(eta_min) {
  require(t_0 > 0, "CosineAnnealingWarmRestarts", "t_0 ", t_0, " must be positive");
  require(t_mult > 0, "CosineAnnealingWarmRestarts", "t_mult ", t_mult, " must be positive");
  CosineAnnealingWarmRestarts::apply(0);
}

void CosineAnnealingWarmRestarts::apply(std::int64_t steps) {
  std::int64_t length = t_0_, done = steps;
  if (t_mult_ == 1) done = steps % length;
  while (done >= length) {
    done -= length;
    length *= t_mult_;
  }
  set_rates([&](std::size_t, double base_lr) { return anneal(base_lr, eta_min_, quotient(done, length)); });
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, std::int64_t total_steps, const OneCycleOptions& options)
    : OneCycleLR(optimizer, std::vector<double>(optimizer.param_groups().size(), max_lr), total_steps, options) {}

OneCycleLR::OneCycleLR(Optimizer& optimizer, std::vector<double> max_lrs, std::int64_t total_steps,
                       const OneCycleOptions& options)
    : LRScheduler(optimizer), max_lrs_(std::move(max_lrs)), total_steps_(total_steps), options_(options) {
  require(max_lrs_.size() == groups(), "OneCycleLR", max_lrs_.size(), " rates for ", groups(), " groups");
  require(total_steps > 0, "OneCycleLR", "total_steps ", total_steps, " must be positive");
  require(options.pct_start >= 0 && options.pct_start <= 1, "OneCycleLR", "pct_start ", options.pct_start,
          " is not in [0, 1]");
  std::vector<double> first;
  for (const double highest : max_lrs_) first.push_back(highest / options.div_factor);
  set_base_lrs(std::move(first));
  OneCycleLR::apply(0);
}

void OneCycleLR::apply(std::int64_t steps) {
  require(steps <= total_steps_, "OneCycleLR", "step ", steps, " is beyond total_steps ", total_steps_);
  const double peak = options_.pct_start * static_cast<double>(total_steps_) - 1;
  const double end = static_cast<double>(total_steps_) - 1;
  const double middle = 2 * peak;  // The end of the second of three phases.
  const double at = std::min(static_cast<double>(steps), end);
  const auto share_of = [&](double first, double last) { return last > first ? (at - first) / (last - first) : 1; };
  const auto between = [&](double first, double last, double share) {
    return options_.linear ? first + (last - first) * share : anneal(first, last, share);
  };
  // In a schedule of one step the phases have length zero. Then the step has the value at the end of its phase.
  const double rise = share_of(0, peak), fall = options_.three_phase ? share_of(peak, middle) : share_of(peak, end);
  const bool falling = at > peak, last = options_.three_phase && at > middle;
  set_rates([&](std::size_t group, double) {
    const double highest = max_lrs_[group], first = highest / options_.div_factor;
    const double least = first / options_.final_div_factor;
    if (last) return between(first, least, share_of(middle, end));
    return falling ? between(highest, options_.three_phase ? first : least, fall) : between(first, highest, rise);
  });
  if (!options_.cycle_momentum) return;
  const double slow = options_.base_momentum, fast = options_.max_momentum;
  set_momentum(last ? fast : falling ? between(slow, fast, fall) : between(fast, slow, rise));
}

}  // namespace crisol::optim
