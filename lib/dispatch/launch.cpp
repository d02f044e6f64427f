// Carries out plans: resolves their kernels and queues their steps.
#include <new>

#include "dispatch/call_notes.h"
#include "dispatch/choose.h"
#include "dispatch/first_use/first_use.h"
#include "dispatch/plan.h"
#include "runtime/capture/capture.h"
#include "runtime/dry_run.h"
#include "runtime/op_scope.h"
#include "runtime/timeline/timeline.h"

namespace crisol::dispatch {

std::shared_ptr<const Prepared> prepare(Plan plan, runtime::DeviceState& device) {
  auto prepared = std::make_shared<Prepared>(Prepared{std::move(plan), device, {}});
  if (runtime::in_dry_run()) return prepared;
  prepared->kernels.reserve(prepared->plan.kernels_.size());
  for (const runtime::OwnKernelSpec& kernel : prepared->plan.kernels_)
    prepared->kernels.push_back(&runtime::resolve(device, kernel.view()));
  return prepared;
}

namespace {

/// The memory that one call uses.
struct Memory {
  std::span<const OperandView> operands;
  std::size_t first_derived;              ///< The index of the first derived copy in `blocks`.
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

/// The arguments of one launch. An argument's space costs nothing until the argument is made.
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

/// The key of a derived copy, with the part of the operand that this call uses.
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

/// A derived copy that this call has to make.
struct Missing {
  std::size_t derived;  ///< Index in the plan.
  bool worth_keeping;
};

}  // namespace

bool keeps_copy(const OperandView& operand, const DerivedKey& key) {
  const DerivedOwner::Found found = find_derived(key, {Place::Kind::operand, 0}, {&operand, 1});
  return found.data != nullptr || found.worth_keeping;
}

void launch(const Prepared& prepared, std::span<const OperandView> operands,
            std::span<const runtime::KernelArg> scalars) {
  if (runtime::in_dry_run()) return;
  const Plan& plan = prepared.plan;
  if (plan.first_use != nullptr) plan.first_use->proceed(operands, scalars);
  const runtime::OpScope scope(plan.choices.empty() ? nullptr : plan.choices.front().table->op);
  runtime::TimelineSlice slice("op", runtime::current_op() == nullptr ? "plan" : runtime::current_op());
  if (slice) note_call(plan, operands, slice);
  Memory memory{operands, plan.workspaces_.size(), {}};
  memory.blocks.reserve(plan.workspaces_.size() + plan.derived_.size());
  for (const std::uint64_t bytes : plan.workspaces_) memory.blocks.push_back(runtime::allocate(prepared.device, bytes));
  std::vector<Missing> missing;
  // If the work is captured, a derived copy is made outside of the capture, because a replay only reads it.
  const bool is_captured = runtime::current_capturer() != nullptr;
  for (const Plan::Derived& derived : plan.derived_) {
    DerivedOwner::Found found = find_derived(derived.key, derived.source, operands);
    if (found.data == nullptr) {
      missing.push_back({memory.blocks.size() - memory.first_derived, found.worth_keeping});
      const runtime::PauseCapture pause(is_captured && found.worth_keeping);
      found.data = runtime::allocate(prepared.device, derived.bytes);
    }
    memory.blocks.push_back(std::static_pointer_cast<runtime::Block>(std::move(found.data)));
  }
  const auto run = [&](const PlanStep& step) {
    Arguments args;
    for (std::uint32_t i = 0; i < step.args; ++i)
      args.add(plan.args_[step.first_arg + i], plan.longs_, memory, scalars);
    if (step.function != nullptr)
      step.function(prepared.device, {args.data(), step.args});
    else
      runtime::enqueue(prepared.device, *prepared.kernels[step.kernel], step.range, args.data(), step.args);
  };
  for (const auto [position, worth_keeping] : missing) {
    const Plan::Derived& derived = plan.derived_[position];
    const bool is_paused = is_captured && worth_keeping;
    const runtime::PauseCapture pause(is_paused);
    // These steps run now, but they cannot use the call's workspaces: a capture may give memory to them only when it
    // ends. So the steps get other memory.
    std::vector<runtime::BlockPtr> of_call;
    if (is_paused) {
      of_call = memory.blocks;
      for (const std::size_t index : plan.workspaces_of(derived.steps))
        memory.blocks[index] = runtime::allocate(prepared.device, plan.workspaces_[index]);
    }
    for (const PlanStep& step : derived.steps) run(step);
    if (is_paused) memory.blocks = std::move(of_call);
    if (worth_keeping)
      keep_derived(derived.key, derived.source, operands, memory.blocks[memory.first_derived + position]);
  }
  for (const PlanStep& step : plan.steps_) run(step);
}

}  // namespace crisol::dispatch
