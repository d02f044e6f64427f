// The common parts of all learning-rate schedules, and schedules of schedules.
#include "crisol/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "optim/exact.h"
#include "optim/milestones.h"
#include "tensor/named_tensors.h"

namespace crisol::optim {

namespace {

/// Whether a state's name is a rate, such as "lr" or "lr.1", perhaps after the name of a schedule.
bool names_rate(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const std::string plain = end + 1 < name.size() && name[end] == '.' ? name.substr(0, end) : name;
  return plain == "lr" || (plain.size() > 3 && plain.compare(plain.size() - 3, 3, ".lr") == 0);
}

bool has_rates(const NamedTensors& state) {
  return std::any_of(state.begin(), state.end(), [](const auto& entry) { return names_rate(entry.first); });
}

/// The entries of a schedule that a given state must have. States of version 0.2 have no rates.
NamedTensors wanted_entries(NamedTensors own, const NamedTensors& given) {
  if (has_rates(given)) return own;
  NamedTensors wanted;
  for (auto& entry : own)
    if (!names_rate(entry.first)) wanted.push_back(std::move(entry));
  return wanted;
}

}  // namespace

LRScheduler::~LRScheduler() = default;

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer), base_lrs_(optimizer.base_rates()) {}

void LRScheduler::set_rates(const Rate& rate) {
  std::vector<double> rates;
  for (std::size_t g = 0; g < groups(); ++g) rates.push_back(rate(g, base_lrs_[g]));
  optimizer_.schedule_rates(rates);
  last_lrs_ = std::move(rates);
}

std::vector<double> LRScheduler::present_rates() const {
  const std::vector<ParamGroup>& all = optimizer_.param_groups();
  require(groups() <= all.size(), "LRScheduler", "it sets the rates of ", groups(), " groups, and the optimiser has ",
          all.size());
  std::vector<double> rates;
  for (std::size_t g = 0; g < groups(); ++g) rates.push_back(all[g].lr.value_or(0));
  return rates;
}

void LRScheduler::change_rates(const Change& change) {
  std::vector<double> rates = present_rates();
  for (std::size_t g = 0; g < groups(); ++g) rates[g] = change(rates[g], base_lrs_[g]);
  optimizer_.schedule_rates(rates);
  last_lrs_ = std::move(rates);
}

void LRScheduler::set_base_lrs(std::vector<double> rates) {
  optimizer_.set_base_rates(rates);
  base_lrs_ = std::move(rates);
}

void LRScheduler::set_momentum(double momentum) { optimizer_.schedule_momentum(momentum); }

std::vector<double> LRScheduler::get_last_lr() const { return last_lrs_; }

void LRScheduler::step() {
  advance(steps_ + 1);
  ++steps_;
}

void LRScheduler::advance(std::int64_t steps) { apply(steps); }

void LRScheduler::set_steps(std::int64_t steps) {
  require(steps >= 0, "LRScheduler", "steps ", steps, " is negative");
  apply(steps);
  steps_ = steps;
}

NamedTensors LRScheduler::state_dict() const {
  const std::vector<double> rates = present_rates();
  const Device device = device_of(optimizer_);
  NamedTensors state{{"steps", whole_number(steps_, device)}};
  for (std::size_t g = 0; g < groups(); ++g)
    state.emplace_back(name_in_group("base_lr", g), exact_tensor(base_lrs_[g], device));
  for (std::size_t g = 0; g < groups(); ++g) state.emplace_back(name_in_group("lr", g), exact_tensor(rates[g], device));
  return state;
}

void LRScheduler::load_state_dict(const NamedTensors& state) {
  const NamedTensors own = wanted_entries(LRScheduler::state_dict(), state);
  const std::map<std::string, Tensor> given = match_state("load_state_dict", own, state);
  const auto rates_of = [&](const char* what) {
    std::vector<double> rates;
    for (std::size_t g = 0; g < groups(); ++g) {
      const std::string name = name_in_group(what, g);
      rates.push_back(exact_value(given.at(name)));
      require(rates[g] >= 0 && std::isfinite(rates[g]), "load_state_dict", name, " is ", rates[g]);
    }
    return rates;
  };
  std::vector<double> base_lrs = rates_of("base_lr"), lrs;
  if (has_rates(state)) lrs = rates_of("lr");
  std::swap(base_lrs_, base_lrs);
  try {
    set_steps(given.at("steps").item<std::int64_t>());
  } catch (...) {
    std::swap(base_lrs_, base_lrs);
    throw;
  }
  if (lrs.empty()) return;
  optimizer_.schedule_rates(lrs);
  last_lrs_ = std::move(lrs);
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedules,
                           std::vector<std::int64_t> milestones)
    : LRScheduler(optimizer), schedules_(std::move(schedules)), milestones_(std::move(milestones)) {
  require(schedules_.size() == milestones_.size() + 1, "SequentialLR", schedules_.size(), " schedules need ",
          static_cast<std::int64_t>(schedules_.size()) - 1, " milestones, given are ", milestones_.size());
  check_milestones("SequentialLR", milestones_);
  for (const std::shared_ptr<LRScheduler>& schedule : schedules_) {
    require(schedule != nullptr, "SequentialLR", "a schedule is null");
    require(&schedule->optimizer_ == &optimizer, "SequentialLR", "a schedule is of another optimiser");
  }
  set_rates([](std::size_t, double base_lr) { return base_lr; });
  SequentialLR::advance(0);
}

void SequentialLR::apply(std::int64_t steps) {
  const std::size_t passed = milestones_passed(milestones_, steps);
  LRScheduler& present = *schedules_[passed];
  present.set_steps(passed == 0 ? steps : steps - milestones_[passed - 1]);
  last_lrs_ = present.last_lrs_;
}

void SequentialLR::advance(std::int64_t steps) {
  const std::size_t passed = milestones_passed(milestones_, steps);
  LRScheduler& present = *schedules_[passed];
  if (steps == 0) {  // The schedule's constructor set the rates, but they were set back.
    present.advance(0);
    present.steps_ = 0;
  } else if (passed > 0 && milestones_[passed - 1] == steps) {
    present.set_steps(0);
  } else {
    present.step();
  }
  last_lrs_ = present.last_lrs_;
}

NamedTensors SequentialLR::state_dict() const {
  NamedTensors state{LRScheduler::state_dict().front()};
  for (std::size_t k = 0; k < schedules_.size(); ++k)
    for (const auto& [name, tensor] : schedules_[k]->state_dict())
      state.emplace_back(concat("schedules.", k, '.', name), tensor);
  return state;
}

void SequentialLR::load_state_dict(const NamedTensors& state) {
  const NamedTensors before = state_dict();
  match_state("load_state_dict", wanted_entries(before, state), state);
  const auto load_part = [&](const NamedTensors& from, std::size_t k) {
    const std::string prefix = concat("schedules.", k, '.');
    NamedTensors part;
    for (const auto& [name, tensor] : from)
      if (name.compare(0, prefix.size(), prefix) == 0) part.emplace_back(name.substr(prefix.size()), tensor);
    schedules_[k]->load_state_dict(part);
  };
  const auto load = [&](const NamedTensors& from) {
    const auto steps = from["steps"].item<std::int64_t>();
    require(steps >= 0, "load_state_dict", "steps ", steps, " is negative");
    for (std::size_t k = 0; k < schedules_.size(); ++k) load_part(from, k);
    const std::size_t present = milestones_passed(milestones_, steps);
    load_part(from, present);  // Sets them again, because each part has set the rates and the momentum.
    last_lrs_ = schedules_[present]->last_lrs_;
    steps_ = steps;
  };
  try {
    load(state);
  } catch (...) {
    load(before);
    throw;
  }
}

}  // namespace crisol::optim
