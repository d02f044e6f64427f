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

/// Parameters and their settings. A setting without a value is the one of the optimiser's options. The options of each
/// optimiser (SGDOptions, …) explain its settings. An optimiser throws invalid_argument for a setting that it lacks.
struct ParamGroup {
  std::vector<Tensor> params = {};          ///< A parameter that is named twice counts once.
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
};

class LRScheduler;
class ReduceLROnPlateau;
struct OptimizerImpl;

/// Moves its parameters into one flat arena (their handles stay valid, their values are kept), with an arena for the
/// gradients beside it. So a step over a group of parameters is one launch. Parameters must be f32 leaves on one
/// device. Move a model to its device first.
///
///     optim::SGD optimizer({{.params = net.body.parameters()}, {.params = net.head.parameters(), .lr = 0.1}},
///                          {.lr = 0.01, .momentum = 0.9});
///
/// Frozen parameters (requires_grad_(false)) are skipped for as long as they are frozen. Constructors and
/// add_param_group throw invalid_argument, and change nothing, for a parameter that another living optimiser has, for
/// one in two groups, and for bad settings.
class CRISOL_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Forgets the gradients: the next backward starts anew.
  void zero_grad();
  /// Updates every parameter that got a gradient since zero_grad() and is not frozen. The others, and their state, stay
  /// as they are. t in the formulas counts the steps that a parameter took part in. Throws invalid_argument, changing
  /// nothing, when no parameter has a gradient although one wants it, and when a parameter's memory was replaced since
  /// (by Module::to). With only frozen parameters it does nothing.
  void step();

  /// All groups, in order, with all their settings.
  const std::vector<ParamGroup>& param_groups() const noexcept;
  /// Changes the settings of a group that have a value in `settings`; its params must be empty. A captured step reads
  /// lr and momentum (Adam, AdamW, Lion: beta1) at each replay, and keeps the other settings that it was captured with.
  /// Throws invalid_argument, changing nothing, for a bad setting, and for one that needs a state which the group was
  /// made without (momentum, amsgrad, centered).
  void set_param_group(std::size_t group, const ParamGroup& settings);
  /// Adds a group. Settings without a value are those of the constructor's options.
  void add_param_group(ParamGroup group);

  /// The learning rate of the first group.
  double lr() const noexcept;
  /// Sets the learning rate of every group. Throws invalid_argument unless lr >= 0 and finite.
  void set_lr(double lr);
  /// The momentum of the first group (Adam, AdamW, Lion: beta1).
  double momentum() const noexcept;
  /// Sets the momentum of every group. Throws invalid_argument outside [0, 1), and for a momentum where a group was
  /// made without one.
  void set_momentum(double momentum);

  /// The parameters of all groups, in order, each once.
  const std::vector<Tensor>& parameters() const noexcept;

  /// The state of parameter i as "NAME.i" ("exp_avg.0", and "progress.0" with its step count), then "lr" and
  /// "momentum" of the first group, "lr.1" and "momentum.1" of the second, …, each as three f32 whose sum in double is
  /// the number, so that nothing is lost.
  NamedTensors state_dict() const;
  /// Takes exactly what state_dict() of the same optimiser over parameters of the same shapes gives, from any device;
  /// training then goes on bit for bit. Throws invalid_argument with all that is missing, unexpected, different or
  /// impossible, and changes nothing then.
  void load_state_dict(const NamedTensors& state);

 protected:
  /// Elements of the arenas that one launch updates.
  struct Range {
    const ParamGroup& group;  ///< Whose settings hold.
    Tensor parameters;        ///< Their values.
    Tensor gradients;         ///< Gradients of the same elements.
    NamedTensors states;      ///< States of the same elements.
    Tensor hyper;             ///< Learning rate and momentum in device memory (see ops/optimizer.h).
    Tensor progress;          ///< The step count (see ops/optimizer.h).

    /// The state of that name, or the undefined tensor.
    CRISOL_API Tensor state(const std::string& name) const;
  };

  /// What makes an optimiser.
  struct Method {
    std::string name;  ///< Begins the text of errors.
    /// Throws for settings that do not go together. All settings have values.
    std::function<void(const ParamGroup&)> check;
    /// The names of a group's states.
    std::function<std::vector<std::string>(const ParamGroup&)> state_names;
    /// One step over a range.
    std::function<void(const Range&)> update;
  };

  /// The method of Adam and, decoupled, of AdamW.
  static Method method_of_adam(const char* name, bool decoupled);

  /// `defaults` has a value for every setting that the method knows.
  Optimizer(Method method, std::vector<ParamGroup> groups, const ParamGroup& defaults);

 private:
  friend struct OptimizerImpl;
  friend class LRScheduler;
  friend class ReduceLROnPlateau;
  /// For schedules. Rates that they set do not become the base rates of other schedules.
  std::vector<double> base_rates() const;
  void schedule_rates(const std::vector<double>& rates);
  void schedule_momentum(double momentum);

  std::unique_ptr<OptimizerImpl> impl_;
};

}  // namespace crisol::optim
