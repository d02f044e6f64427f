#include <cmath>
#include <utility>

#include "base/text.h"
#include "crisol/optim.h"
#include "optim/exact.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

namespace {

constexpr double pi = 3.14159265358979323846;

// Goes from `from` at share 0 to `to` at share 1, along half a cosine.
double anneal(double from, double to, double share) { return to + (from - to) / 2 * (1 + std::cos(pi * share)); }

}  // namespace

LRScheduler::~LRScheduler() = default;

void LRScheduler::set_steps(std::int64_t steps) {
  require(steps >= 0, "LRScheduler", "steps ", steps, " is negative");
  apply(steps);
  steps_ = steps;
}

NamedTensors LRScheduler::state_dict() const {
  const Device device = optimizer_.parameters()[0].device();
  return {{"steps", from_vector(std::vector<std::int64_t>{steps_}, Shape{}, device)},
          {"base_lr", exact_tensor(base_lr_, device)}};
}

void LRScheduler::load_state_dict(const NamedTensors& state) {
  const std::map<std::string, Tensor> given = match_state("load_state_dict", state_dict(), state);
  const double base_lr = exact_value(given.at("base_lr"));
  require(base_lr >= 0 && std::isfinite(base_lr), "load_state_dict", "base_lr is ", base_lr);
  const double before = std::exchange(base_lr_, base_lr);
  try {
    set_steps(given.at("steps").item<std::int64_t>());
  } catch (...) {
    base_lr_ = before;
    throw;
  }
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  require(step_size > 0, "StepLR", "step_size ", step_size, " must be positive");
}

void StepLR::apply(std::int64_t steps) {
  optimizer().set_lr(base_lr() * std::pow(gamma_, static_cast<double>(steps / step_size_)));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  require(t_max > 0, "CosineAnnealingLR", "t_max ", t_max, " must be positive");
}

void CosineAnnealingLR::apply(std::int64_t steps) {
  optimizer().set_lr(anneal(base_lr(), eta_min_, static_cast<double>(steps) / static_cast<double>(t_max_)));
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, std::int64_t total_steps, const OneCycleOptions& options)
    : LRScheduler(optimizer), max_lr_(max_lr), total_steps_(total_steps), options_(options) {
  require(total_steps > 0, "OneCycleLR", "total_steps ", total_steps, " must be positive");
  require(options.pct_start >= 0 && options.pct_start <= 1, "OneCycleLR", "pct_start ", options.pct_start,
          " is not in [0, 1]");
  OneCycleLR::apply(0);
}

void OneCycleLR::apply(std::int64_t steps) {
  require(steps <= total_steps_, "OneCycleLR", "step ", steps, " is beyond total_steps ", total_steps_);
  const double peak = options_.pct_start * static_cast<double>(total_steps_) - 1;
  const double end = static_cast<double>(total_steps_) - 1;
  const double at = std::min(static_cast<double>(steps), end);
  const double first = max_lr_ / options_.div_factor;
  const bool rising = at <= peak;
  // In a schedule of one step both phases have length zero. Then the step takes the value at the end of its phase.
  const double share = rising ? (peak > 0 ? at / peak : 1) : (end > peak ? (at - peak) / (end - peak) : 1);
  optimizer().set_lr(rising ? anneal(first, max_lr_, share)
                            : anneal(max_lr_, first / options_.final_div_factor, share));
  if (!options_.cycle_momentum || optimizer().momentum() == 0) return;
  optimizer().set_momentum(rising ? anneal(options_.max_momentum, options_.base_momentum, share)
                                  : anneal(options_.base_momentum, options_.max_momentum, share));
}

}  // namespace crisol::optim
