// The private state of an optimiser.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crisol/optim/optimizer.h"
#include "optim/arena_layout.h"

namespace crisol::optim {

/// The state of momenta. It is bf16 if all parameters are bf16, as in PyTorch. A mean of squares would not decay in
/// bf16, because its steps are smaller than the spacing of the type. So other states are f32.
inline constexpr const char* momentum_state = "momentum_buffer";

/// Whether x is at this place of an arena, in contiguous order.
bool is_in_arena(const Tensor& x, const Tensor& arena, std::int64_t begin);

/// The memory of groups that were added together.
struct Arena {
  ArenaLayout layout;
  Tensor values, gradients;
  /// Of bf16 values: the bits that their f32 values have in addition (ops/optim/master_weights.h). Else undefined.
  Tensor remainders;
};

/// A group's place in an arena, and its own memory.
struct GroupMemory {
  std::shared_ptr<const Arena> arena;
  std::size_t first_in_arena = 0;   ///< The index of the group's first parameter in the arena's layout.
  ArenaLayout::Range range;         ///< The group's range in the arena.
  std::size_t first = 0, last = 0;  ///< The group's parameters, as indices among all parameters of the optimiser.
  NamedTensors states;              ///< Flat tensors with the size of the range.
  Tensor hyper;                     ///< Learning rate and momentum (see ops/optimizer.h).
};

struct OptimizerImpl {
  using Method = Optimizer::Method;
  using Range = Optimizer::Range;

  OptimizerImpl(Method m, const ParamGroup& d)
      : method(std::move(m)), defaults(d), holder(std::make_shared<const std::string>(method.name)) {}

  const Method method;
  const ParamGroup defaults;
  const std::shared_ptr<const std::string> holder;  ///< Parameters point to it while this optimiser lives.
  std::vector<ParamGroup> settings;
  std::vector<GroupMemory> groups;
  std::vector<Tensor> parameters;
  /// By parameter: its place in the arena, if its own memory cannot move there. A step copies the parameter. Else
  /// undefined. It is f32 for f16 parameters, and for bf16 parameters beside parameters of another type.
  std::vector<Tensor> copies;
  std::vector<Tensor> progress;          ///< Step counts. Parameters of a group that took the same steps share one.
  std::vector<std::size_t> progress_of;  ///< By parameter: the index of its step count.

  const char* op() const noexcept { return method.name.c_str(); }
  /// The setting from which the first decay of `hyper` comes.
  std::optional<double> ParamGroup::*momentum_member() const noexcept {
    return defaults.beta1.has_value() ? &ParamGroup::beta1 : &ParamGroup::momentum;
  }

  /// Whether a step updates f32 values of a parameter and rounds them to the parameter.
  bool has_master(const GroupMemory& group, std::size_t parameter) const {
    const Tensor& copy = copies[parameter];
    return group.arena->remainders.defined() || (copy.defined() && copy.dtype() != parameters[parameter].dtype());
  }
  /// These values, and their replacement.
  Tensor master_of(const GroupMemory& group, std::size_t parameter) const;
  void set_master(const GroupMemory& group, std::size_t parameter, const Tensor& values) const;

  /// The settings of the first group. Without groups, the defaults.
  const ParamGroup& first_settings() const noexcept { return settings.empty() ? defaults : settings.front(); }

  /// Adds groups, which share a new arena. Throws before anything is changed.
  void add(std::vector<ParamGroup> added);
  /// Takes the states and step counts of the parameters that another optimiser with the same method has too.
  void take_states(const OptimizerImpl& other);
  /// Gives new groups their settings, and removes parameters that a group names twice. Throws for an invalid
  /// group.
  void complete(std::vector<ParamGroup>& added, Device device) const;
  /// Makes the arena of new groups, and their states.
  std::vector<GroupMemory> memory_of(const std::vector<ParamGroup>& added, Device device) const;
  /// The elements of the parameters first … last - 1 of a group, counted from the start of the group.
  ArenaLayout::Range elements(const GroupMemory& group, std::size_t first, std::size_t last) const;
  /// The element of the arena at which a parameter of the group begins.
  std::int64_t place_of(const GroupMemory& group, std::size_t parameter) const;
  /// Elements of a group, counted from the start of the group. Parameters with remainders are missing.
  Range range_of(std::size_t group, const ArenaLayout::Range& own, const Tensor& count) const;
  /// One step of the parameters first … last - 1 of a group, which share a step count.
  void update(std::size_t group, std::size_t first, std::size_t last) const;
  void check_parameters_in_place() const;
  /// Which parameters a step updates. Throws if parameters require a gradient and none of them has one.
  std::vector<bool> touched_parameters() const;
  void split_progress(const std::vector<bool>& touched);
  /// Copies the values and gradients that are not in the arena to it.
  void collect(const std::vector<bool>& touched) const;
  /// Gives the parameters that are not in the arena their new values.
  void give_back(const std::vector<bool>& touched) const;

  /// The settings of a group after a change. Throws for an invalid change.
  ParamGroup changed(std::size_t group, const ParamGroup& changes) const;
  /// Makes those states of a group that the settings need and that the group lacks.
  void add_states(GroupMemory& group, const ParamGroup& group_settings) const;
  /// Stores settings that changed() returned.
  void store(std::size_t group, const ParamGroup& settings);
};

}  // namespace crisol::optim
