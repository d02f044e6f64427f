// A plan describes everything that an op does on a device, as plain values: kernels, ranges, arguments, memory. A
// variant makes a plan from a problem and a Target, without a device. prepare() resolves the plan's kernels, and
// launch() queues them with the operands of one call. So a plan can be made for a device that is not there, and every
// call with the same problem uses it again.
//
//     Plan plan;
//     const auto [x, y] = operands<2>();
//     const Place sums = plan.workspace(4 * parts);
//     plan.add({"reduce.cl", "part"}, target.flat_range(parts), x, sums, n);
//     plan.add({"reduce.cl", "total"}, {{1}, {1}}, sums, y, parts);
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dispatch/derived.h"
#include "runtime/launch.h"
#include "runtime/program/own_kernel_spec.h"

namespace crisol::dispatch {

class AnyTable;
class FirstUse;

/// A place in memory that a plan names by number. `offset` counts elements of the kernel's parameter.
struct Place {
  enum class Kind : std::uint8_t { operand, workspace, derived };

  Kind kind;
  std::uint8_t index;
  std::int64_t offset = 0;

  Place offset_by(std::int64_t elements) const noexcept { return {kind, index, offset + elements}; }
};

/// The operand at this index of the list that launch() gets.
constexpr Place operand(int index, std::int64_t offset = 0) noexcept {
  return {Place::Kind::operand, static_cast<std::uint8_t>(index), offset};
}

/// The first operands, in the order in which launch() gets them: `const auto [x, weight, y] =
/// operands<3>();`.
template <std::size_t count>
constexpr std::array<Place, count> operands() noexcept {
  std::array<Place, count> places{};
  for (std::size_t i = 0; i < count; ++i) places[i] = operand(static_cast<int>(i));
  return places;
}

/// A scalar, by its index among the scalars that launch() gets. Its value may differ from call to call.
struct CallScalar {
  std::uint8_t index;
};

/// A Shape as an argument of `count` lanes, padded with zeros. A plain Shape argument has kernel_axes lanes.
struct Lanes {
  Shape shape;
  int count;
};

/// Arguments, if their number is known only at run time.
using AnyArg = std::variant<Place, CallScalar, Lanes, std::int64_t, std::int32_t>;
using ArgList = std::vector<AnyArg>;

/// One argument of a kernel, as a plan stores it.
struct PlanArg {
  enum class Kind : std::uint8_t { value, longs, place, call_scalar };

  Kind kind;
  std::uint8_t size = 0;  ///< For a value: its bytes. For `longs`: their number.
  Place::Kind place{};
  std::uint8_t index = 0;   ///< The index of the place, or of the call's scalar.
  std::uint32_t first = 0;  ///< The index of the first of `longs` in Plan::longs_.
  std::int64_t bits = 0;    ///< The bytes of a value, or the offset of a place.
};

/// A host function that queues work by itself, such as a call of a library. It gets the arguments of its step.
using HostFunction = void (*)(runtime::DeviceState& device, std::span<const runtime::KernelArg> args);

/// A launch of a kernel, or the call of a function.
struct PlanStep {
  std::uint32_t kernel;           ///< Index in the plan's kernels.
  std::uint32_t first_arg, args;  ///< Its arguments in the plan's list.
  runtime::NdRange range;
  HostFunction function = nullptr;  ///< If not null, called instead of launching the kernel.
};

class Plan {
 public:
  static constexpr std::size_t max_args = 64;     ///< Limit for the arguments of one launch.
  static constexpr std::size_t max_places = 256;  ///< Limit for the workspaces and derived copies that a Place can
                                                  /// name.

  /// Device memory of this plan alone. Its contents are undefined when a call begins.
  Place workspace(std::uint64_t bytes);

  /// A copy of an operand in another layout. `add_to_derived` adds the steps that make the copy. They run if the owner
  /// of the operand keeps no such copy. They run before all other steps, so the plan must not write the operand.
  Place derive(Place source, const DerivedKey& key, std::uint64_t bytes);
  /// The same, but the steps of the plan `maker` make the copy. The operands of `maker` are the source and the copy.
  /// `maker` must not derive copies itself.
  Place derive(Place source, const DerivedKey& key, std::uint64_t bytes, const Plan& maker);

  /// Adds a launch. Arguments are places, call scalars, numbers, Shapes (long8), arrays of longs (as a vector), structs
  /// of cl_kernels (common/parameters.h), ArgLists, PlanArgs, and tuples and variants of these types.
  template <class... Args>
  void add(const runtime::KernelSpec& spec, const runtime::NdRange& range, const Args&... args) {
    steps_.push_back(make_step(spec, range, args...));
  }
  /// Adds a call of a host function. Launches and calls run in the order in which they were added. Arguments are as for
  /// launches.
  template <class... Args>
  void add_call(HostFunction function, const Args&... args) {
    const auto first = static_cast<std::uint32_t>(args_.size());
    (push(args), ...);
    steps_.push_back({0, first, static_cast<std::uint32_t>(args_.size()) - first, {{1}, {1}}, function});
  }
  template <class... Args>
  void add_to_derived(Place derived, const runtime::KernelSpec& spec, const runtime::NdRange& range,
                      const Args&... args) {
    derived_[derived.index].steps.push_back(make_step(spec, range, args...));
  }

  /// Adds all steps of `part`. Operand i of `part` is `operands[i]`. Returns the place of the result of `part`.
  Place append(const Plan& part, std::span<const Place> operands);
  Place append(const Plan& part, std::initializer_list<Place> operands) {
    return append(part, std::span(operands.begin(), operands.size()));
  }
  /// The same for parts whose results are operands. The parts run one after another and share the memory of their
  /// workspaces.
  void append_sharing(const Plan& part, std::span<const Place> operands);

  /// Whether the plan runs the epilogue of its problem. The row of the variant that choose() took says so.
  bool fuses_epilogue() const noexcept;

  /// The number of arguments of all steps. It is a measure for the memory of the plan itself.
  std::size_t arg_count() const noexcept { return args_.size(); }

  /// The bytes of memory in addition to the operands: workspaces, and derived copies that nobody keeps.
  std::uint64_t workspace_bytes() const noexcept;

  /// For logs and messages: a choice of dispatch, for the plan itself or for one of its parts.
  struct Choice {
    const AnyTable* table;
    std::size_t row;      ///< The row of the table.
    std::string variant;  ///< The name of the variant, with the configuration if one was requested.
    bool tuned;
    std::vector<std::byte> problem;
  };
  std::vector<Choice> choices;
  /// False if the next call may choose another plan. Then this plan is not kept.
  bool lasting = true;

  /// The expected time, relative to the variant's other configurations, or another number that is lower for better
  /// configurations. 0 if it is not known.
  double estimate = 0;
  /// For problems that are tuned at their first use: see dispatch/first_use/first_use.h.
  std::shared_ptr<FirstUse> first_use;

  /// The place of the result: an operand, or a workspace of the plan. It is used by ops that let their variants choose
  /// it.
  Place result = operand(0);

 private:
  friend struct Prepared;
  friend std::shared_ptr<const struct Prepared> prepare(Plan plan, runtime::DeviceState& device);
  friend void launch(const struct Prepared& prepared, std::span<const struct OperandView> operands,
                     std::span<const runtime::KernelArg> scalars);

  struct Derived {
    Place source;
    DerivedKey key;
    std::uint64_t bytes;
    std::vector<PlanStep> steps;
  };

  template <class... Args>
  PlanStep make_step(const runtime::KernelSpec& spec, const runtime::NdRange& range, const Args&... args) {
    const std::size_t before = args_.size();
    (push(args), ...);
    return step(spec, range, args_.size() - before);
  }
  PlanStep step(const runtime::KernelSpec& spec, const runtime::NdRange& range, std::size_t args);
  std::uint32_t kernel(const runtime::KernelSpec& spec);
  void add_derived(Derived derived);
  /// The indices of the workspaces that the steps use.
  std::set<std::size_t> workspaces_of(const std::vector<PlanStep>& steps) const;
  std::vector<std::uint8_t> own_workspaces(const Plan& part);
  std::vector<std::uint8_t> shared_workspaces(const Plan& part);
  Place append(const Plan& part, std::span<const Place> operands, const std::vector<std::uint8_t>& workspaces);
  void push(const PlanArg& arg) { args_.push_back(arg); }
  void push(const Place& place);
  void push(CallScalar scalar);
  void push(const Lanes& lanes);
  void push(const Shape& shape) { push(Lanes{shape, runtime::kernel_axes}); }
  void push(const ArgList& list);
  template <std::size_t count>
  void push(const std::array<std::int64_t, count>& longs) {
    push_longs(longs.data(), count, count);
  }
  void push_longs(const void* values, std::size_t count, std::size_t lanes);
  template <class... Args>
  void push(const std::tuple<Args...>& args) {
    std::apply([this](const Args&... each) { (push(each), ...); }, args);
  }
  template <class... Args>
  void push(const std::variant<Args...>& arg) {
    std::visit([this](const auto& value) { push(value); }, arg);
  }
  template <class T>
  void push(const T& value) {
    if constexpr (std::is_class_v<T>) {
      static_assert(std::has_unique_object_representations_v<T> && sizeof value % sizeof(std::int64_t) == 0);
      push_longs(&value, sizeof value / sizeof(std::int64_t), sizeof value / sizeof(std::int64_t));
    } else {
      static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, double>);
      push_value(&value, sizeof value);
    }
  }
  void push_value(const void* value, std::size_t size);

  std::vector<runtime::OwnKernelSpec> kernels_;
  std::vector<PlanArg> args_;
  std::vector<std::int64_t> longs_;
  std::vector<PlanStep> steps_;
  std::vector<std::uint64_t> workspaces_;
  std::vector<std::uint8_t> part_workspaces_;  ///< The workspaces that parts share, as indices in workspaces_.
  std::vector<Derived> derived_;
};

/// A plan, or the reason why there is no plan.
class PlanOr {
 public:
  PlanOr(Plan plan) : plan_(std::move(plan)) {}
  PlanOr(const char* reason) : reason_(reason) {}
  /// A correct plan that is taken only if its variant is forced. `reason` says why another variant is expected to take
  /// less time.
  static PlanOr only_forced(Plan plan, const char* reason) {
    PlanOr made(std::move(plan));
    made.reason_unless_forced_ = reason;
    return made;
  }

  explicit operator bool() const noexcept { return reason_ == nullptr; }
  const char* reason() const noexcept { return reason_; }  ///< nullptr if there is a plan.
  const char* reason_unless_forced() const noexcept { return reason_unless_forced_; }
  Plan& plan() noexcept { return plan_; }

 private:
  Plan plan_;
  const char* reason_ = nullptr;
  const char* reason_unless_forced_ = nullptr;
};

/// A plan with its kernels.
struct Prepared {
  Plan plan;
  runtime::DeviceState& device;
  std::vector<runtime::BuiltKernel*> kernels;
};

/// Finds or compiles every kernel of the plan. Queues nothing.
std::shared_ptr<const Prepared> prepare(Plan plan, runtime::DeviceState& device);

/// An operand of a call.
struct OperandView {
  runtime::BufferView view;
  DerivedOwner* owner = nullptr;  ///< The object that keeps copies of the operand, or nullptr.
  std::uint64_t version = 0;      ///< The owner's version of the operand.

  OperandView(const runtime::BufferView& v) : view(v) {}
  OperandView(const runtime::BufferView& v, DerivedOwner* o, std::uint64_t at) : view(v), owner(o), version(at) {}
};

/// Whether the owner of the operand keeps this derived copy, or the copy will save time from this call on. Ops whose
/// plan depends on a derived copy call this function, because choose() does not see operands.
bool keeps_copy(const OperandView& operand, const DerivedKey& key);

/// Queues the plan with the operands and scalars of one call. All of its memory is allocated before its first launch.
void launch(const Prepared& prepared, std::span<const OperandView> operands,
            std::span<const runtime::KernelArg> scalars = {});
inline void launch(const Prepared& prepared, std::initializer_list<OperandView> operands,
                   std::initializer_list<runtime::KernelArg> scalars = {}) {
  launch(prepared, std::span(operands.begin(), operands.size()), std::span(scalars.begin(), scalars.size()));
}

}  // namespace crisol::dispatch
