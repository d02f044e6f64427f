#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "crisol/optim/lr_scheduler.h"
#include "optim/exact.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : optimizer_(optimizer),
      options_(options),
      best_(options.mode == "max" ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::infinity()) {
  constexpr const char* op = "ReduceLROnPlateau";
  require(options.mode == "min" || options.mode == "max", op, "mode '", options.mode, "' is neither min nor max");
  require(options.threshold_mode == "rel" || options.threshold_mode == "abs", op, "threshold_mode '",
          options.threshold_mode, "' is neither rel nor abs");
  require(options.factor >= 0 && options.factor < 1, op, "factor ", options.factor, " is not in [0, 1)");
  require(options.patience >= 0, op, "patience ", options.patience, " is negative");
  require(options.cooldown >= 0, op, "cooldown ", options.cooldown, " is negative");
  require(options.threshold >= 0, op, "threshold ", options.threshold, " is not at least 0");
  require(options.min_lr >= 0, op, "min_lr ", options.min_lr, " is not at least 0");
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const bool relative = options_.threshold_mode == "rel";
  if (options_.mode == "min")
    return metric < (relative ? best_ * (1 - options_.threshold) : best_ - options_.threshold);
  return metric > (relative ? best_ * (1 + options_.threshold) : best_ + options_.threshold);
}

void ReduceLROnPlateau::step(double metric) {
  if (is_better(metric)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooldown_ > 0) {
    --cooldown_;
    bad_ = 0;
  }
  if (bad_ <= options_.patience) return;
  std::vector<double> rates = get_last_lr();
  for (double& rate : rates) {
    const double lower = std::max(rate * options_.factor, options_.min_lr);
    if (rate - lower > options_.eps) rate = lower;
  }
  optimizer_.schedule_rates(rates);
  cooldown_ = options_.cooldown;
  bad_ = 0;
}

std::vector<double> ReduceLROnPlateau::get_last_lr() const {
  std::vector<double> rates;
  for (const ParamGroup& group : optimizer_.param_groups()) rates.push_back(group.lr.value_or(0));
  return rates;
}

NamedTensors ReduceLROnPlateau::state_dict() const {
  const Device device = device_of(optimizer_);
  return {{"best", exact_tensor(best_, device)},
          {"bad", whole_number(bad_, device)},
          {"cooldown", whole_number(cooldown_, device)}};
}

void ReduceLROnPlateau::load_state_dict(const NamedTensors& state) {
  const std::map<std::string, Tensor> given = match_state("load_state_dict", state_dict(), state);
  const std::int64_t bad = given.at("bad").item<std::int64_t>(), cooldown = given.at("cooldown").item<std::int64_t>();
  require(bad >= 0, "load_state_dict", "bad is ", bad);
  require(cooldown >= 0, "load_state_dict", "cooldown is ", cooldown);
  const double best = exact_value(given.at("best"));
  require(!std::isnan(best), "load_state_dict", "best is ", best);
  best_ = best;
  bad_ = bad;
  cooldown_ = cooldown;
}

}  // namespace crisol::optim
