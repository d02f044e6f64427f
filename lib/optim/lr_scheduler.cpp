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

LRScheduler::~LRScheduler() = default;

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer), base_lrs_(optimizer.base_rates()) {}

void LRScheduler::set_rates(const Rate& rate) {
  std::vector<double> rates;
  for (std::size_t g = 0; g < groups(); ++g) rates.push_back(rate(g, base_lrs_[g]));
  optimizer_.schedule_rates(rates);
  last_lrs_ = std::move(rates);
}

void LRScheduler::set_momentum(double momentum) { optimizer_.schedule_momentum(momentum); }

std::vector<double> LRScheduler::get_last_lr() const { return last_lrs_; }

void LRScheduler::set_steps(std::int64_t steps) {
  require(steps >= 0, "LRScheduler", "steps ", steps, " is negative");
  apply(steps);
  steps_ = steps;
}

NamedTensors LRScheduler::state_dict() const {
  const Device device = optimizer_.parameters()[0].device();
  NamedTensors state{{"steps", whole_number(steps_, device)}};
  for (std::size_t g = 0; g < groups(); ++g)
    state.emplace_back(name_in_group("base_lr", g), exact_tensor(base_lrs_[g], device));
  return state;
}

void LRScheduler::load_state_dict(const NamedTensors& state) {
  const std::map<std::string, Tensor> given = match_state("load_state_dict", LRScheduler::state_dict(), state);
  std::vector<double> base_lrs;
  for (std::size_t g = 0; g < groups(); ++g) {
    const std::string name = name_in_group("base_lr", g);
    base_lrs.push_back(exact_value(given.at(name)));
    require(base_lrs[g] >= 0 && std::isfinite(base_lrs[g]), "load_state_dict", name, " is ", base_lrs[g]);
  }
  std::swap(base_lrs_, base_lrs);
  try {
    set_steps(given.at("steps").item<std::int64_t>());
  } catch (...) {
    std::swap(base_lrs_, base_lrs);
    throw;
  }
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
  SequentialLR::apply(0);
}

void SequentialLR::apply(std::int64_t steps) {
  const std::size_t passed = milestones_passed(milestones_, steps);
  LRScheduler& present = *schedules_[passed];
  present.set_steps(passed == 0 ? steps : steps - milestones_[passed - 1]);
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
  match_state("load_state_dict", before, state);
  const auto load = [&](const NamedTensors& from) {
    for (std::size_t k = 0; k < schedules_.size(); ++k) {
      const std::string prefix = concat("schedules.", k, '.');
      NamedTensors part;
      for (const auto& [name, tensor] : from)
        if (name.compare(0, prefix.size(), prefix) == 0) part.emplace_back(name.substr(prefix.size()), tensor);
      schedules_[k]->load_state_dict(part);
    }
    set_steps(from["steps"].item<std::int64_t>());
  };
  try {
    load(state);
  } catch (...) {
    load(before);
    throw;
  }
}

}  // namespace crisol::optim
