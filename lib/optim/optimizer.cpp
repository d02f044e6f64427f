// One step of an optimiser: the parts of the arenas that it updates.
#include <algorithm>
#include <map>
#include <set>

#include "autograd/node.h"
#include "base/text.h"
#include "crisol/functions/compare.h"
#include "crisol/functions/elementwise.h"
#include "crisol/fuse.h"
#include "crisol/grad_mode.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/optimizer.h"
#include "ops/optim/master_weights.h"
#include "optim/optimizer_impl.h"

namespace crisol::optim {

Optimizer::~Optimizer() = default;

Optimizer::Optimizer(Method method, std::vector<ParamGroup> groups, const ParamGroup& defaults)
    : impl_(std::make_unique<OptimizerImpl>(std::move(method), defaults)) {
  impl_->add(std::move(groups));
}

void Optimizer::add_param_group(ParamGroup group) { impl_->add({std::move(group)}); }

const std::vector<Tensor>& Optimizer::parameters() const noexcept { return impl_->parameters; }

void Optimizer::zero_grad() { zero_grad(true); }

void Optimizer::zero_grad(bool set_to_none) {
  for (const Tensor& p : impl_->parameters) set_to_none ? autograd::clear_gradient(p) : autograd::zero_gradient(p);
}

Tensor Optimizer::Range::state(const std::string& name) const {
  return states.contains(name) ? states[name] : Tensor();
}

ArenaLayout::Range OptimizerImpl::elements(const GroupMemory& group, std::size_t first, std::size_t last) const {
  const ArenaLayout::Range range = group.arena->layout.parameters(group.first_in_arena + first - group.first,
                                                                  group.first_in_arena + last - group.first);
  return {range.begin - group.range.begin, range.end - group.range.begin};
}

Optimizer::Range OptimizerImpl::range_of(std::size_t index, const ArenaLayout::Range& own, const Tensor& count) const {
  const GroupMemory& group = groups[index];
  const auto part = [&](const Tensor& arena, std::int64_t begin) {
    return make_view(arena, {own.count()}, {1}, begin + own.begin);
  };
  Range range{settings[index], {}, part(group.arena->gradients, group.range.begin), {}, group.hyper, count};
  if (!group.arena->remainders.defined()) range.parameters = part(group.arena->values, group.range.begin);
  for (const auto& [name, state] : group.states) range.states.emplace_back(name, part(state, 0));
  return range;
}

void OptimizerImpl::update(std::size_t index, std::size_t first, std::size_t last) const {
  constexpr std::int64_t at_once = 1 << 20;  // Elements whose f32 values have memory at a time.
  const GroupMemory& group = groups[index];
  const ArenaLayout::Range all = elements(group, first, last);
  const Tensor& count = progress[progress_of[first]];
  if (!group.arena->remainders.defined()) return method.update(range_of(index, all, count));
  for (std::int64_t begin = all.begin; begin < all.end; begin += at_once) {
    Range range = range_of(index, {begin, std::min(begin + at_once, all.end)}, count);
    const auto part = [&](const Tensor& arena) {
      return make_view(arena, range.gradients.shape(), {1}, group.range.begin + begin);
    };
    const Tensor values = part(group.arena->values), remainders = part(group.arena->remainders);
    range.parameters = ops::join_master(values, remainders);
    method.update(range);
    ops::split_master(range.parameters, values, remainders);
  }
}

bool is_in_arena(const Tensor& x, const Tensor& arena, std::int64_t begin) {
  const Storage &own = *x.impl()->storage, &all = *arena.impl()->storage;
  return x.offset() == 0 && x.is_contiguous() && own.block == all.block &&
         own.base == all.base + static_cast<std::uint64_t>(begin) * size_of(arena.dtype());
}

void OptimizerImpl::check_parameters_in_place() const {
  for (const GroupMemory& group : groups) {
    for (std::size_t i = group.first; i < group.last; ++i) {
      if (const auto newer = autograd::slot_of(parameters[i])->optimizer.lock(); newer != nullptr && newer != holder)
        fail(ErrorCode::invalid_argument, op(), "parameter ", i, " of shape ", parameters[i].shape(),
             " belongs to an optimiser that was made later, ", *newer, "; only the newest one of a parameter can step");
      const Tensor &p = parameters[i], &copy = copies[i];
      const bool is_same = copy.defined() ? p.shape() == copy.shape() && p.device() == copy.device()
                                          : is_in_arena(p, group.arena->values, place_of(group, i));
      require(is_same, op(), "parameter ", i, " of shape ", parameters[i].shape(),
              " has other memory since this optimiser was made (Module::to, a tie, another optimiser, or a value of "
              "another shape); "
              "make a new one");
    }
  }
}

std::int64_t OptimizerImpl::place_of(const GroupMemory& group, std::size_t parameter) const {
  return group.range.begin + elements(group, parameter, parameter).begin;
}

Tensor OptimizerImpl::master_of(const GroupMemory& group, std::size_t parameter) const {
  const Arena& arena = *group.arena;
  if (!arena.remainders.defined()) return copies[parameter];
  const std::int64_t place = place_of(group, parameter);
  const Shape& shape = parameters[parameter].shape();
  return ops::join_master(make_slice_of_arena(arena.values, place, shape),
                          make_slice_of_arena(arena.remainders, place, shape));
}

void OptimizerImpl::set_master(const GroupMemory& group, std::size_t parameter, const Tensor& values) const {
  const Tensor& remainders = group.arena->remainders;
  if (!remainders.defined()) return ops::copy_into(copies[parameter], values);
  const Tensor& p = parameters[parameter];
  const Tensor master = empty(p.shape(), DType::f32, p.device()), rounded = empty(p.shape(), p.dtype(), p.device());
  ops::copy_into(master, values);
  ops::split_master(master, rounded, make_slice_of_arena(remainders, place_of(group, parameter), p.shape()));
}

namespace {

/// Reads a parameter into the arena. The f32 value of a parameter of another type stays where it is rounded to the
/// parameter. Elsewhere a program changed the parameter since the last step.
void read_parameter(const Tensor& copy, const Tensor& p) {
  if (p.dtype() == copy.dtype()) return ops::copy_into(copy, p);
  static const auto choose =
      fuse([](const Expr& value, const Expr& rounded, const Expr& p) { return where(eq(rounded, p), value, p); },
           "master_weights");
  const NoGrad no_grad;
  ops::copy_into(copy, choose(copy, ops::cast(copy, p.dtype()), p));
}

}  // namespace

void OptimizerImpl::collect(const std::vector<bool>& touched) const {
  for (const GroupMemory& group : groups)
    for (std::size_t i = group.first; i < group.last; ++i) {
      if (!touched[i]) continue;
      if (copies[i].defined()) read_parameter(copies[i], parameters[i]);
      const Tensor &gradients = group.arena->gradients, gradient = parameters[i].grad();
      if (const std::int64_t place = place_of(group, i); !is_in_arena(gradient, gradients, place))
        ops::copy_into(make_slice_of_arena(gradients, place, gradient.shape()), gradient);
    }
}

void OptimizerImpl::give_back(const std::vector<bool>& touched) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!touched[i]) continue;
    // Without a copy, the launch wrote to the arena. This counts as a write of the parameter.
    if (copies[i].defined())
      ops::copy_into(parameters[i], copies[i]);
    else
      parameters[i].impl()->storage->written();
  }
}

std::vector<bool> OptimizerImpl::touched_parameters() const {
  std::vector<bool> touched;
  bool any = false, wanted = false;
  for (const Tensor& p : parameters) {
    touched.push_back(p.requires_grad() && p.grad().defined());
    any = any || touched.back();
    wanted = wanted || p.requires_grad();
  }
  require(any || !wanted, op(), "step: none of the ", parameters.size(),
          " parameters has a gradient; call backward() between zero_grad() and step()");
  return touched;
}

// Some parameters share a step count. If only some of them advance, these get a copy of the count.
void OptimizerImpl::split_progress(const std::vector<bool>& touched) {
  std::map<std::size_t, std::size_t> copies;  // For a count that stays unchanged: its copy, which advances.
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!touched[i]) copies.emplace(progress_of[i], 0);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto copy = copies.find(progress_of[i]);
    if (!touched[i] || copy == copies.end()) continue;
    if (copy->second == 0) {
      progress.push_back(ops::clone(progress[copy->first]));
      copy->second = progress.size() - 1;
    }
    progress_of[i] = copy->second;
  }
}

void Optimizer::step() { step_unless(Tensor()); }

void Optimizer::step_unless(const Tensor& overflow) {
  OptimizerImpl& s = *impl_;
  s.check_parameters_in_place();
  const std::vector<bool> touched = s.touched_parameters();
  s.split_progress(touched);
  s.collect(touched);
  if (overflow.defined())
    for (const GroupMemory& group : s.groups) ops::set_skip(group.hyper, overflow);
  for (std::size_t g = 0; g < s.groups.size(); ++g) {
    const GroupMemory& group = s.groups[g];
    std::set<std::size_t> advancing;
    for (std::size_t i = group.first; i < group.last; ++i)
      if (touched[i]) advancing.insert(s.progress_of[i]);
    for (const std::size_t progress : advancing)
      ops::advance_step(s.progress[progress], group.hyper, s.settings[g].beta2.value_or(0));

    for (std::size_t first = group.first, last = first; first < group.last; first = last) {
      last = first + 1;
      while (last < group.last && touched[last] == touched[first] && s.progress_of[last] == s.progress_of[first])
        ++last;
      if (!touched[first]) continue;
      s.update(g, first, last);
    }
  }
  if (overflow.defined())
    for (const GroupMemory& group : s.groups) ops::set_skip(group.hyper, Tensor());
  s.give_back(touched);
}

}  // namespace crisol::optim
