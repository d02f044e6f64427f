// Groups: how parameters come into an optimiser, and changes of settings.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/optimizer.h"
#include "ops/optim/optimizer_launch.h"
#include "optim/flat_parts.h"
#include "optim/optimizer_impl.h"
#include "optim/settings.h"

namespace crisol::optim {

namespace {

using GroupOf = std::map<const autograd::Slot*, std::size_t>;

/// Checks a parameter and returns its slot. Tied parameters share a slot.
autograd::Slot& checked_slot(const char* op, const Tensor& p, const std::string& text) {
  require(p.defined() && p.is_leaf() && is_floating(p.dtype()), op, text, " is not a leaf of floating-point numbers");
  return autograd::ensure_slot(p);
}

/// Removes parameters that a group names twice. Throws for parameters that another group has.
void take_parameters(const char* op, std::vector<Tensor>& params, std::size_t group, Device device, GroupOf& group_of) {
  std::vector<Tensor> kept;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const std::string text = group == 0 ? concat("parameter ", i) : concat("parameter ", i, " of group ", group);
    const autograd::Slot& slot = checked_slot(op, params[i], text);
    require(params[i].device() == device, op, text, " is on ", params[i].device(), ", the first on ", device);
    const auto [at, is_new] = group_of.emplace(&slot, group);
    require(is_new || at->second == group, op, text, " is in group ", at->second, " too");
    if (!is_new) continue;
    kept.push_back(params[i]);
  }
  params = std::move(kept);
}

/// The type of the values that a step computes with: f32, or f64 if a parameter is f64.
DType type_of(const std::vector<ParamGroup>& added) {
  DType type = DType::f32;
  for (const ParamGroup& group : added) type = promote_types(type, arena_type(group.params));
  return type;
}

/// The type that all parameters share. If they differ, the type of the values that a step computes with.
DType shared_type_of(const std::vector<ParamGroup>& added, DType values) {
  std::optional<DType> type;
  for (const ParamGroup& group : added)
    for (const Tensor& p : group.params) {
      if (type.value_or(p.dtype()) != p.dtype()) return values;
      type = p.dtype();
    }
  return type.value_or(values);
}

/// The memory of groups. The gradients have the type that all parameters share. So have the values if it is bf16.
Arena make_arena(const std::vector<ParamGroup>& added, Device device) {
  std::vector<std::vector<std::int64_t>> sizes(added.size());
  for (std::size_t k = 0; k < added.size(); ++k)
    for (const Tensor& p : added[k].params) sizes[k].push_back(p.numel());
  const ArenaLayout layout(sizes);
  const Shape size{layout.size()};
  const DType type = type_of(added), shared = shared_type_of(added, type);
  const bool splits = shared == DType::bf16;
  return {layout, zeros(size, splits ? shared : type, device), zeros(size, shared, device),
          splits ? zeros(size, DType::i16, device) : Tensor()};
}

/// Moves a parameter into the arena. If it cannot move, returns the place of its copy there.
Tensor take_values(const Tensor& p, const Tensor& place) {
  if (p.dtype() != place.dtype()) return ops::copy_into(place, p), place;
  if (!can_move_elements(p)) return place;
  move_elements(p, place);
  return {};
}

/// From now on, backward() writes the gradient of a parameter into the arena, if the arena's gradients have its type.
/// An existing gradient moves there, or stays outside until it is discarded.
void take_gradient(const Tensor& like, autograd::Slot& slot, const Tensor& place) {
  if (like.dtype() != place.dtype()) return;
  place.impl()->storage->is_known_outside = false;  // The optimiser does not use the place while there is no gradient.
  slot.gradient_buffer = place;
  if (!slot.gradient.defined() || !can_move_elements(slot.gradient)) return;
  move_elements(slot.gradient, place);
  slot.gradient_buffer = make_alias(slot.gradient);
}

}  // namespace

void OptimizerImpl::complete(std::vector<ParamGroup>& added, Device device) const {
  GroupOf group_of;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t i = groups[g].first; i < groups[g].last; ++i)
      group_of.emplace(autograd::slot_of(parameters[i]), g);
  for (std::size_t k = 0; k < added.size(); ++k) {
    take_parameters(op(), added[k].params, groups.size() + k, device, group_of);
    std::vector<Tensor> params = std::move(added[k].params);
    added[k] = merge_settings(method.name, defaults, added[k]);
    added[k].params = std::move(params);
    check_settings(method.name, added[k]);
    method.check(added[k]);
  }
}

void OptimizerImpl::add_states(GroupMemory& group, const ParamGroup& group_settings) const {
  for (const std::string& state : method.state_names(group_settings)) {
    if (group.states.contains(state)) continue;
    const bool is_half = group.arena->remainders.defined() && state == momentum_state;
    const DType type = is_half ? group.arena->values.dtype() : group.hyper.dtype();
    group.states.emplace_back(state, zeros({group.range.count()}, type, group.hyper.device()));
  }
}

std::vector<GroupMemory> OptimizerImpl::memory_of(const std::vector<ParamGroup>& added, Device device) const {
  const auto arena = std::make_shared<const Arena>(make_arena(added, device));
  const DType type = type_of(added);
  std::vector<GroupMemory> made;
  std::size_t first = 0;
  for (std::size_t k = 0; k < added.size(); ++k) {
    GroupMemory group;
    group.arena = arena;
    group.first_in_arena = first;
    group.range = arena->layout.group(k);
    group.first = parameters.size() + first;
    first += added[k].params.size();
    group.last = parameters.size() + first;
    group.hyper = ops::make_hyper(device, type);
    add_states(group, added[k]);
    ops::write_hyper(group.hyper, added[k].lr.value_or(0), (added[k].*momentum_member()).value_or(0));
    made.push_back(std::move(group));
  }
  return made;
}

void OptimizerImpl::add(std::vector<ParamGroup> added) {
  const auto filled = std::find_if(added.begin(), added.end(), [](const ParamGroup& g) { return !g.params.empty(); });
  require(filled != added.end(), op(), "there are no parameters");
  checked_slot(op(), filled->params[0], "parameter 0");
  const Device device = parameters.empty() ? filled->params[0].device() : parameters[0].device();
  complete(added, device);
  std::vector<GroupMemory> made = memory_of(added, device);
  std::vector<Tensor> all = parameters, all_copies = copies, counts = progress;
  std::vector<std::size_t> count_of = progress_of;
  for (std::size_t k = 0; k < added.size(); ++k) {
    counts.push_back(ops::make_progress(device, made[k].hyper.dtype()));
    const Arena& arena = *made[k].arena;
    for (std::size_t i = 0; i < added[k].params.size(); ++i) {
      Tensor& p = added[k].params[i];
      const std::int64_t begin = arena.layout.parameter(made[k].first_in_arena + i).begin;
      autograd::Slot& slot = *autograd::slot_of(p);
      all_copies.push_back(take_values(p, make_slice_of_arena(arena.values, begin, p.shape())));
      take_gradient(p, slot, make_slice_of_arena(arena.gradients, begin, p.shape()));
      slot.optimizer = holder;
      all.push_back(p);
      count_of.push_back(counts.size() - 1);
    }
  }
  parameters = std::move(all);
  copies = std::move(all_copies);
  progress = std::move(counts);
  progress_of = std::move(count_of);
  std::move(made.begin(), made.end(), std::back_inserter(groups));
  std::move(added.begin(), added.end(), std::back_inserter(settings));
}

void OptimizerImpl::take_states(const OptimizerImpl& other) {
  std::map<const autograd::Slot*, std::pair<const GroupMemory*, std::size_t>> known;
  for (const GroupMemory& group : other.groups)
    for (std::size_t i = group.first; i < group.last; ++i)
      known.emplace(autograd::slot_of(other.parameters[i]), std::pair(&group, i));
  for (const GroupMemory& group : groups) {
    std::map<std::size_t, std::size_t> taken;  // By the other's index of a step count: the own index.
    for (std::size_t i = group.first; i < group.last; ++i) {
      const auto at = known.find(autograd::slot_of(parameters[i]));
      if (at == known.end()) continue;
      const auto [from, j] = at->second;
      const Shape& shape = parameters[i].shape();
      for (const auto& [name, state] : group.states)
        if (from->states.contains(name))
          ops::copy_into(make_slice_of_arena(state, elements(group, i, i).begin, shape),
                         make_slice_of_arena(from->states[name], other.elements(*from, j, j).begin, shape));
      if (has_master(group, i) && other.has_master(*from, j)) set_master(group, i, other.master_of(*from, j));
      const auto [count, is_new] = taken.emplace(other.progress_of[j], progress.size());
      if (is_new) progress.push_back(ops::cast(other.progress[other.progress_of[j]], group.hyper.dtype()));
      progress_of[i] = count->second;
    }
  }
}

ParamGroup OptimizerImpl::changed(std::size_t group, const ParamGroup& changes) const {
  require(group < groups.size(), op(), "group ", group, " of ", groups.size());
  require(changes.params.empty(), op(),
          "the parameters of a group cannot be changed; set_param_groups replaces groups");
  ParamGroup after = merge_settings(method.name, settings[group], changes);
  check_settings(method.name, after);
  method.check(after);
  return after;
}

void OptimizerImpl::store(std::size_t group, const ParamGroup& after) {
  add_states(groups[group], after);
  const auto momentum = momentum_member();
  ParamGroup& own = settings[group];
  if (own.lr != after.lr || own.*momentum != after.*momentum)
    ops::write_hyper(groups[group].hyper, after.lr.value_or(0), (after.*momentum).value_or(0));
  for_each_setting([&](const char*, auto member) { own.*member = after.*member; });
}

void Optimizer::set_param_groups(std::vector<ParamGroup> groups) {
  auto next = std::make_unique<OptimizerImpl>(impl_->method, impl_->defaults);
  if (!groups.empty()) next->add(std::move(groups));
  next->take_states(*impl_);
  impl_ = std::move(next);
}

const std::vector<ParamGroup>& Optimizer::param_groups() const noexcept { return impl_->settings; }

void Optimizer::set_param_group(std::size_t group, const ParamGroup& changes) {
  impl_->store(group, impl_->changed(group, changes));
}

const ParamGroup& Optimizer::defaults() const noexcept { return impl_->defaults; }

double Optimizer::lr() const noexcept { return impl_->first_settings().lr.value_or(0); }

void Optimizer::set_lr(double lr) { schedule_rates(std::vector<double>(impl_->groups.size(), lr)); }

double Optimizer::momentum() const noexcept { return (impl_->first_settings().*impl_->momentum_member()).value_or(0); }

void Optimizer::set_momentum(double momentum) {
  ParamGroup change;
  change.*impl_->momentum_member() = momentum;
  std::vector<ParamGroup> after;
  for (std::size_t g = 0; g < impl_->groups.size(); ++g) after.push_back(impl_->changed(g, change));
  for (std::size_t g = 0; g < after.size(); ++g) impl_->store(g, after[g]);
}

std::vector<double> Optimizer::base_rates() const {
  std::vector<double> rates;
  for (std::size_t g = 0; g < impl_->groups.size(); ++g) {
    ParamGroup& group = impl_->settings[g];
    if (!group.initial_lr) group.initial_lr = group.lr.value_or(0);
    rates.push_back(*group.initial_lr);
  }
  return rates;
}

void Optimizer::set_base_rates(const std::vector<double>& rates) {
  for (std::size_t g = 0; g < rates.size(); ++g) impl_->settings[g].initial_lr = rates[g];
}

void Optimizer::schedule_rates(const std::vector<double>& rates) {
  std::vector<ParamGroup> after;
  for (std::size_t g = 0; g < rates.size(); ++g) after.push_back(impl_->changed(g, {.lr = rates[g]}));
  for (std::size_t g = 0; g < rates.size(); ++g) impl_->store(g, after[g]);
}

void Optimizer::schedule_momentum(double momentum) {
  const auto member = impl_->momentum_member();
  ParamGroup change;
  change.*member = momentum;
  for (std::size_t g = 0; g < impl_->groups.size(); ++g)
    if ((impl_->settings[g].*member).value_or(0) != 0) impl_->store(g, impl_->changed(g, change));
}

}  // namespace crisol::optim
