// The base of all optimisers, and groups of parameters with their own settings.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Parameters and their settings. A setting without a value comes from the optimiser's options. The options of each
/// optimiser (SGDOptions, …) explain its settings. An optimiser throws invalid_argument for a setting that it does not
/// have.
struct ParamGroup {
  std::vector<Tensor> params = {};          ///< A parameter that appears twice counts once.
  std::optional<double> lr = {};            ///< Learning rate.
  std::optional<double> momentum = {};      ///< SGD, RMSprop.
  std::optional<double> dampening = {};     ///< SGD.
  std::optional<double> weight_decay = {};  ///< Every optimiser.
  std::optional<double> beta1 = {};         ///< Adam, AdamW, Lion.
  std::optional<double> beta2 = {};         ///< Adam, AdamW, Lion.
  std::optional<double> eps = {};           ///< Adam, AdamW, RMSprop.
  std::optional<double> alpha = {};         ///< RMSprop.
  std::optional<bool> nesterov = {};        ///< SGD.
  std::optional<bool> amsgrad = {};         ///< Adam, AdamW.
  std::optional<bool> centered = {};        ///< RMSprop.
  std::optional<bool> maximize = {};        ///< Every optimiser.
  std::optional<double> initial_lr = {};  ///< The rate from which schedules compute theirs. The first schedule sets it.
};

class GradScaler;
class LRScheduler;
class ReduceLROnPlateau;
struct OptimizerImpl;

/// The base of the optimisers. An optimiser moves its parameters into one flat block of memory (an arena), and their
/// gradients into another. So a step over a group of parameters is one launch. Handles, views and values of the
/// parameters stay valid. Memory that others know cannot move: an array of NumPy, a user's OpenCL buffer, a part of a
/// larger tensor, commands of a capture. Such a parameter is copied to the arena and back in each step. Parameters are
/// leaves on one device, so move a model to its device first. They are f32, f64, or have two bytes. For these, the
/// optimiser keeps f32 values, which a step updates and rounds to the parameters. So small steps are not lost. If all
/// parameters are bf16, it keeps only the bits that the f32 values have in addition. A value that a program gives a
/// parameter replaces the f32 value, of bf16 by one that rounds to it.
///
///     optim::SGD optimizer({{.params = net.body.parameters()}, {.params = net.head.parameters(), .lr = 0.1}},
///                          {.lr = 0.01, .momentum = 0.9});
///
/// Frozen parameters (requires_grad_(false)) are skipped for as long as they are frozen. If two optimisers have the
/// same parameters, the newer one takes them over, and the older one cannot step. Constructors and add_param_group
/// throw invalid_argument, and change nothing, for a parameter in two groups, and for bad settings.
class CRISOL_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Discards the gradients. The next backward() starts from zero, in a new tensor: a gradient that a program keeps
  /// stays as it is.
  void zero_grad();
  /// The same. Without `set_to_none`, the gradients stay the same tensors and become zeros.
  void zero_grad(bool set_to_none);
  /// Updates every parameter that got a gradient since zero_grad() and is not frozen. The other parameters, and their
  /// states, stay unchanged. t in the formulas counts the updates of a parameter. Throws invalid_argument, and changes
  /// nothing, if parameters want gradients and none of them has one. Throws it also if the memory of a parameter was
  /// replaced meanwhile: by Module::to, or by an optimiser that was made later. Does nothing if all parameters are
  /// frozen.
  void step();

  /// All groups, in order, with all their settings.
  const std::vector<ParamGroup>& param_groups() const noexcept;
  /// The settings for groups that do not set their own.
  const ParamGroup& defaults() const noexcept;
  /// Changes the settings of a group that have a value in `settings`; its params must be empty. A captured step reads
  /// lr and momentum (Adam, AdamW, Lion: beta1) at each replay, and keeps the other settings that it was captured with.
  /// Throws invalid_argument, and changes nothing, for a bad setting. momentum, amsgrad and centered need a state. If
  /// the group has none yet, it gets one of zeros.
  void set_param_group(std::size_t group, const ParamGroup& settings);
  /// Adds a group. Settings without a value come from the options of the constructor.
  void add_param_group(ParamGroup group);
  /// Replaces all groups, also by none. Settings without a value come from the options of the constructor. Parameters
  /// that the optimiser has already keep their states and step counts. Throws as the constructor does, and changes
  /// nothing. A step that was captured before keeps the old groups' memory.
  void set_param_groups(std::vector<ParamGroup> groups);

  /// The learning rate of the first group.
  double lr() const noexcept;
  /// Sets the learning rate of every group. Throws invalid_argument unless lr >= 0 and finite.
  void set_lr(double lr);
  /// The momentum of the first group (Adam, AdamW, Lion: beta1).
  double momentum() const noexcept;
  /// Sets the momentum of every group. Throws invalid_argument for a momentum outside [0, 1).
  void set_momentum(double momentum);

  /// The parameters of all groups, in order, each once.
  const std::vector<Tensor>& parameters() const noexcept;

  /// The state of parameter i under names "NAME.i": "exp_avg.0", "progress.0" with its number of steps, and "master.0"
  /// with the f32 values of a parameter of two bytes. Then follow
  /// "lr" and "momentum" of the first group, "lr.1" and "momentum.1" of the second, and so on. Each of these numbers is
  /// stored as three f32. Their sum in double is the exact number.
  NamedTensors state_dict() const;
  /// Restores a state from state_dict() of the same kind of optimiser over parameters of the same shapes, from any
  /// device. Training then continues with the same bits. For any other state throws invalid_argument, with all missing,
  /// unexpected, different and impossible entries, and changes nothing.
  void load_state_dict(const NamedTensors& state);

 protected:
  /// A range of elements in the arenas that one launch updates.
  struct Range {
    const ParamGroup& group;  ///< The group whose settings apply.
    Tensor parameters;        ///< The values of the elements.
    Tensor gradients;         ///< The gradients of the elements.
    NamedTensors states;      ///< The states of the elements.
    Tensor hyper;             ///< Learning rate and momentum in device memory (see ops/optimizer.h).
    Tensor progress;          ///< The step count (see ops/optimizer.h).

    /// The state of that name, or the undefined tensor.
    CRISOL_API Tensor state(const std::string& name) const;
  };

  /// The parts in which optimisers differ.
  struct Method {
    std::string name;  ///< The name of the optimiser. Error texts start with it.
    /// Throws for settings that contradict each other. All settings have values.
    std::function<void(const ParamGroup&)> check;
    /// The names of a group's states.
    std::function<std::vector<std::string>(const ParamGroup&)> state_names;
    /// One step over a range.
    std::function<void(const Range&)> update;
  };

  /// The method of Adam, or of AdamW if `decoupled`.
  static Method method_of_adam(const char* name, bool decoupled);

  /// `defaults` has a value for every setting that the method knows.
  Optimizer(Method method, std::vector<ParamGroup> groups, const ParamGroup& defaults);

 private:
  friend struct OptimizerImpl;
  friend class GradScaler;
  friend class LRScheduler;
  friend class ReduceLROnPlateau;
  /// step(), which changes nothing if the only element of `overflow` is not 0 on the device.
  void step_unless(const Tensor& overflow);
  /// For schedules: the rates that the groups had when the first schedule asked for them.
  std::vector<double> base_rates() const;
  void set_base_rates(const std::vector<double>& rates);
  void schedule_rates(const std::vector<double>& rates);
  void schedule_momentum(double momentum);

  std::unique_ptr<OptimizerImpl> impl_;
};

}  // namespace crisol::optim
