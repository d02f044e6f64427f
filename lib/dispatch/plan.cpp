#include "dispatch/plan.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "dispatch/choose.h"

namespace crisol::dispatch {

std::uint32_t Plan::kernel(const runtime::KernelSpec& spec) {
  const auto known = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&](const runtime::OwnKernelSpec& kernel) { return kernel.matches(spec); });
  const auto position = static_cast<std::uint32_t>(known - kernels_.begin());
  if (known == kernels_.end()) kernels_.emplace_back(spec);
  return position;
}

Place Plan::workspace(std::uint64_t bytes) {
  require(workspaces_.size() < max_places, "plan", "there are more than ", max_places, " workspaces");
  workspaces_.push_back(bytes);
  return {Place::Kind::workspace, static_cast<std::uint8_t>(workspaces_.size() - 1)};
}

std::set<std::size_t> Plan::workspaces_of(const std::vector<PlanStep>& steps) const {
  std::set<std::size_t> used;
  for (const PlanStep& step : steps)
    for (std::uint32_t i = 0; i < step.args; ++i) {
      const PlanArg& arg = args_[step.first_arg + i];
      if (arg.kind == PlanArg::Kind::place && arg.place == Place::Kind::workspace) used.insert(arg.index);
    }
  return used;
}

Place Plan::derive(Place source, const DerivedKey& key, std::uint64_t bytes) {
  add_derived({source, key, bytes, {}});
  return {Place::Kind::derived, static_cast<std::uint8_t>(derived_.size() - 1)};
}

Place Plan::derive(Place source, const DerivedKey& key, std::uint64_t bytes, const Plan& maker) {
  const Place copy = derive(source, key, bytes);
  const auto before = static_cast<std::ptrdiff_t>(steps_.size());
  append(maker, {source, copy});
  derived_[copy.index].steps.assign(steps_.begin() + before, steps_.end());
  steps_.erase(steps_.begin() + before, steps_.end());
  return copy;
}

void Plan::add_derived(Derived derived) {
  require(derived_.size() < max_places, "plan", "there are more than ", max_places, " derived copies");
  require(derived.source.kind == Place::Kind::operand, "plan", "a derived copy must be one of an operand");
  derived_.push_back(std::move(derived));
}

void Plan::push(const Place& place) {
  args_.push_back({PlanArg::Kind::place, 0, place.kind, place.index, 0, place.offset});
}

void Plan::push(CallScalar scalar) { args_.push_back({PlanArg::Kind::call_scalar, 0, {}, scalar.index, 0, 0}); }

void Plan::push(const Lanes& lanes) {
  runtime::require_kernel_axes(lanes.shape);
  push_longs(lanes.shape.begin(), static_cast<std::size_t>(lanes.shape.rank()), static_cast<std::size_t>(lanes.count));
}

void Plan::push(const ArgList& list) {
  for (const AnyArg& arg : list) push(arg);
}

void Plan::push_longs(const void* values, std::size_t count, std::size_t lanes) {
  const auto first = static_cast<std::uint32_t>(longs_.size());
  args_.push_back({PlanArg::Kind::longs, static_cast<std::uint8_t>(lanes), {}, 0, first, 0});
  longs_.resize(first + lanes);
  std::memcpy(&longs_[first], values, count * sizeof(std::int64_t));
}

PlanStep Plan::step(const runtime::KernelSpec& spec, const runtime::NdRange& range, std::size_t args) {
  require(args <= max_args, "plan", spec.entry, " has ", args, " arguments, more than ", max_args);
  return {kernel(spec), static_cast<std::uint32_t>(args_.size() - args), static_cast<std::uint32_t>(args), range};
}

void Plan::push_value(const void* value, std::size_t size) {
  PlanArg arg{PlanArg::Kind::value, static_cast<std::uint8_t>(size)};
  std::memcpy(&arg.bits, value, size);
  args_.push_back(arg);
}

std::vector<std::uint8_t> Plan::shared_workspaces(const Plan& part) {
  for (std::size_t i = 0; i < part.workspaces_.size(); ++i) {
    const std::uint64_t bytes = part.workspaces_[i];
    if (i == part_workspaces_.size()) part_workspaces_.push_back(workspace(bytes).index);
    std::uint64_t& shared = workspaces_[part_workspaces_[i]];
    shared = std::max(shared, bytes);
  }
  return part_workspaces_;
}

std::vector<std::uint8_t> Plan::own_workspaces(const Plan& part) {
  std::vector<std::uint8_t> own;
  for (const std::uint64_t bytes : part.workspaces_) own.push_back(workspace(bytes).index);
  return own;
}

Place Plan::append(const Plan& part, std::span<const Place> operands) {
  return append(part, operands, own_workspaces(part));
}

void Plan::append_sharing(const Plan& part, std::span<const Place> operands) {
  append(part, operands, shared_workspaces(part));
}

Place Plan::append(const Plan& part, std::span<const Place> operands, const std::vector<std::uint8_t>& workspaces) {
  const auto moved = [&, derived = derived_.size()](Place place) {
    if (place.kind == Place::Kind::operand) return operands[place.index].offset_by(place.offset);
    if (place.kind == Place::Kind::workspace)
      place.index = workspaces[place.index];
    else
      place.index += static_cast<std::uint8_t>(derived);
    return place;
  };
  const auto copy = [&](const PlanStep& step) {
    PlanStep made = step;
    made.first_arg = static_cast<std::uint32_t>(args_.size());
    if (step.function == nullptr) made.kernel = kernel(part.kernels_[step.kernel].view());
    for (std::uint32_t i = 0; i < step.args; ++i) {
      PlanArg arg = part.args_[step.first_arg + i];
      if (arg.kind == PlanArg::Kind::place) {
        const Place place = moved({arg.place, arg.index, arg.bits});
        arg.place = place.kind;
        arg.index = place.index;
        arg.bits = place.offset;
      } else if (arg.kind == PlanArg::Kind::longs) {
        const std::uint32_t first = arg.first;
        arg.first = static_cast<std::uint32_t>(longs_.size());
        for (std::uint32_t l = 0; l < arg.size; ++l) longs_.push_back(part.longs_[first + l]);
      }
      args_.push_back(arg);
    }
    return made;
  };
  const Place result_of_part = moved(part.result);
  for (const PlanStep& step : part.steps_) steps_.push_back(copy(step));
  for (const Derived& derived : part.derived_) {
    Derived mine{moved(derived.source), derived.key, derived.bytes, {}};
    for (const PlanStep& step : derived.steps) mine.steps.push_back(copy(step));
    add_derived(std::move(mine));
  }
  choices.insert(choices.end(), part.choices.begin(), part.choices.end());
  lasting = lasting && part.lasting;
  return result_of_part;
}

bool Plan::fuses_epilogue() const noexcept {
  return !choices.empty() && choices.front().table->rows()[choices.front().row].fuses_epilogue;
}

std::uint64_t Plan::workspace_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const std::uint64_t workspace : workspaces_) bytes += workspace;
  for (const Derived& derived : derived_) bytes += derived.bytes;
  return bytes;
}

}  // namespace crisol::dispatch
