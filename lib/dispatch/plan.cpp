#include "dispatch/plan.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "base/text.h"
#include "dispatch/call_notes.h"
#include "dispatch/choose.h"
#include "runtime/capture/capture.h"
#include "runtime/dry_run.h"
#include "runtime/op_scope.h"
#include "runtime/trace/timeline.h"

namespace crisol::dispatch {

// ---- Making a plan ----

PlanKernel::PlanKernel(const runtime::KernelSpec& spec)
    : source_(spec.source), entry_(spec.entry), prelude_(spec.prelude) {
  for (const runtime::Define& define : spec.defines)
    defines_.push_back({std::string(define.name), std::string(define.text), define.number});
}

runtime::KernelSpec PlanKernel::spec() const {
  runtime::KernelSpec spec{source_, entry_, {}, prelude_};
  for (const OwnDefine& define : defines_) {
    runtime::Define copy(define.name, std::string_view(define.text));
    copy.number = define.number;
    spec.defines.add(copy);
  }
  return spec;
}

bool PlanKernel::matches(const runtime::KernelSpec& spec) const noexcept {
  return source_ == spec.source && entry_ == spec.entry && prelude_ == spec.prelude &&
         std::equal(defines_.begin(), defines_.end(), spec.defines.begin(), spec.defines.end(),
                    [](const OwnDefine& own, const runtime::Define& other) {
                      return own.name == other.name && own.text == other.text && own.number == other.number;
                    });
}

std::uint32_t Plan::kernel(const runtime::KernelSpec& spec) {
  const auto known =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const PlanKernel& kernel) { return kernel.matches(spec); });
  const auto position = static_cast<std::uint32_t>(known - kernels_.begin());
  if (known == kernels_.end()) kernels_.emplace_back(spec);
  return position;
}

Place Plan::workspace(std::uint64_t bytes) {
  require(workspaces_.size() < max_places, "plan", "there are more than ", max_places, " workspaces");
  workspaces_.push_back(bytes);
  return {Place::Kind::workspace, static_cast<std::uint8_t>(workspaces_.size() - 1)};
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

PlanStep Plan::call_step(HostFunction function, std::size_t args) const {
  require(args <= max_args, "plan", "a call has ", args, " arguments, more than ", max_args);
  return {0, static_cast<std::uint32_t>(args_.size() - args), static_cast<std::uint32_t>(args), {{1}, {1}}, function};
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
    const std::uint32_t its_kernel = step.function != nullptr ? 0 : kernel(part.kernels_[step.kernel].spec());
    const PlanStep made{its_kernel, static_cast<std::uint32_t>(args_.size()), step.args, step.range, step.function};
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

std::uint64_t Plan::workspace_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const std::uint64_t workspace : workspaces_) bytes += workspace;
  for (const Derived& derived : derived_) bytes += derived.bytes;
  return bytes;
}

// ---- Carrying it out ----

std::shared_ptr<const Prepared> prepare(Plan plan, runtime::DeviceState& device) {
  auto prepared = std::make_shared<Prepared>(Prepared{std::move(plan), device, {}});
  if (runtime::in_dry_run()) return prepared;
  prepared->kernels.reserve(prepared->plan.kernels_.size());
  for (const PlanKernel& kernel : prepared->plan.kernels_)
    prepared->kernels.push_back(&runtime::resolve(device, kernel.spec()));
  return prepared;
}

namespace {

/// The memory of one call.
struct Memory {
  std::span<const OperandView> operands;
  std::size_t first_derived;              ///< Position in `blocks`.
  std::vector<runtime::BlockPtr> blocks;  ///< The workspaces, then the derived copies.

  runtime::BufferView view_of(Place::Kind kind, std::uint8_t index, std::int64_t offset) const {
    if (kind == Place::Kind::operand) {
      const runtime::BufferView& view = operands[index].view;
      return {view.block, view.offset + static_cast<std::uint64_t>(offset)};
    }
    const std::size_t first = kind == Place::Kind::workspace ? 0 : first_derived;
    return {blocks[first + index].get(), static_cast<std::uint64_t>(offset)};
  }
};

/// The arguments of one launch. Room for one costs nothing until the argument is made.
class Arguments {
 public:
  void add(const PlanArg& arg, const std::vector<std::int64_t>& longs, const Memory& memory,
           std::span<const runtime::KernelArg> scalars) {
    void* const place = &bytes_[count_++ * sizeof(runtime::KernelArg)];
    switch (arg.kind) {
      case PlanArg::Kind::place: new (place) runtime::KernelArg(memory.view_of(arg.place, arg.index, arg.bits)); break;
      case PlanArg::Kind::call_scalar:
        new (place) runtime::KernelArg(scalars[arg.index].data(), scalars[arg.index].size());
        break;
      case PlanArg::Kind::longs:
        new (place) runtime::KernelArg(&longs[arg.first], arg.size * sizeof(std::int64_t));
        break;
      case PlanArg::Kind::value: new (place) runtime::KernelArg(&arg.bits, arg.size); break;
    }
  }
  const runtime::KernelArg* data() const noexcept {
    return std::launder(reinterpret_cast<const runtime::KernelArg*>(bytes_));
  }

 private:
  static_assert(std::is_trivially_copyable_v<runtime::KernelArg>);
  alignas(runtime::KernelArg) std::byte bytes_[Plan::max_args * sizeof(runtime::KernelArg)];
  std::size_t count_ = 0;
};

/// The key of the part of the operand that this call derives a copy of.
DerivedKey key_in(const DerivedKey& key, const Place& source, const OperandView& operand) {
  DerivedKey whole = key;
  whole.offset = operand.view.offset + static_cast<std::uint64_t>(source.offset);
  return whole;
}

DerivedOwner::Found find_derived(const DerivedKey& key, const Place& source, std::span<const OperandView> operands) {
  const OperandView& operand = operands[source.index];
  if (operand.owner == nullptr) return {};
  return operand.owner->find_derived(key_in(key, source, operand), operand.version);
}

void keep_derived(const DerivedKey& key, const Place& source, std::span<const OperandView> operands,
                  runtime::BlockPtr& block) {
  const OperandView& operand = operands[source.index];
  block = std::static_pointer_cast<runtime::Block>(
      operand.owner->keep_derived(key_in(key, source, operand), operand.version, std::move(block)));
}

/// While it lives, a capture does not see how a copy that is kept is made: a replay only reads the copy.
class PauseForKept {
 public:
  explicit PauseForKept(bool is_kept) {
    if (is_kept && runtime::current_capturer() != nullptr) pause_.emplace();
  }

 private:
  std::optional<runtime::PauseCapture> pause_;
};

/// A derived copy that this call has to make.
struct Missing {
  std::size_t derived;  ///< Position in the plan.
  bool worth_keeping;
};

}  // namespace

void launch(const Prepared& prepared, std::span<const OperandView> operands,
            std::span<const runtime::KernelArg> scalars) {
  if (runtime::in_dry_run()) return;
  const Plan& plan = prepared.plan;
  const runtime::OpScope scope(plan.choices.empty() ? nullptr : plan.choices.front().table->op);
  runtime::TraceSlice slice("op", runtime::current_op() == nullptr ? "plan" : runtime::current_op());
  if (slice) note_call(plan, operands, slice);
  Memory memory{operands, plan.workspaces_.size(), {}};
  memory.blocks.reserve(plan.workspaces_.size() + plan.derived_.size());
  for (const std::uint64_t bytes : plan.workspaces_) memory.blocks.push_back(runtime::allocate(prepared.device, bytes));
  std::vector<Missing> missing;
  for (const Plan::Derived& derived : plan.derived_) {
    DerivedOwner::Found found = find_derived(derived.key, derived.source, operands);
    if (found.data == nullptr) {
      missing.push_back({memory.blocks.size() - memory.first_derived, found.worth_keeping});
      const PauseForKept pause(found.worth_keeping);
      found.data = runtime::allocate(prepared.device, derived.bytes);
    }
    memory.blocks.push_back(std::static_pointer_cast<runtime::Block>(std::move(found.data)));
  }
  const auto run = [&](const PlanStep& step) {
    Arguments args;
    for (std::uint32_t i = 0; i < step.args; ++i)
      args.add(plan.args_[step.first_arg + i], plan.longs_, memory, scalars);
    if (step.function != nullptr) return step.function(prepared.device, {args.data(), step.args});
    runtime::enqueue(prepared.device, *prepared.kernels[step.kernel], step.range, args.data(), step.args);
  };
  for (const auto [position, worth_keeping] : missing) {
    const Plan::Derived& derived = plan.derived_[position];
    const PauseForKept pause(worth_keeping);
    for (const PlanStep& step : derived.steps) run(step);
    if (worth_keeping)
      keep_derived(derived.key, derived.source, operands, memory.blocks[memory.first_derived + position]);
  }
  for (const PlanStep& step : plan.steps_) run(step);
}

}  // namespace crisol::dispatch
