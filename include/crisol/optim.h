// Optimisers and learning-rate schedules, with PyTorch's names, formulas and defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/ops/optimizer.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Moves its parameters into one flat arena (their handles stay valid, their values are kept), with arenas for the
/// gradients and the state beside it, so that a step over all of them is one launch. Parameters must be f32 leaves that
/// want a gradient, on one device, each named once, and in no other living optimiser. Move a model to its device first.
class CRISOL_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Forgets the gradients: the next backward starts anew.
  void zero_grad();
  /// Updates every parameter that got a gradient since zero_grad(); the others, and their state, stay as they are. t in
  /// the formulas counts the steps that a parameter took part in. Throws invalid_argument, changing nothing, when a
  /// parameter's memory was replaced since (by Module::to, or another optimiser).
  void step();

  /// The learning rate.
  double lr() const noexcept { return lr_; }
  /// Throws invalid_argument unless lr >= 0 and finite.
  void set_lr(double lr);
  /// SGD's and RMSprop's momentum, Adam's beta1.
  double momentum() const noexcept { return momentum_; }
  /// Throws invalid_argument outside [0, 1), and for a momentum where the optimiser was made without one.
  void set_momentum(double momentum);

  /// In the order of the constructor.
  const std::vector<Tensor>& parameters() const noexcept { return parameters_; }

  /// The state of parameter i as "NAME.i" ("exp_avg.0", and "progress.0" with its step count), then "lr" and
  /// "momentum", each as three f32 whose sum in double is the number, so that nothing is lost.
  NamedTensors state_dict() const;
  /// Takes exactly what state_dict() of the same optimiser over parameters of the same shapes gives, from any device;
  /// training then goes on bit for bit. Throws invalid_argument with all that is missing, unexpected, different or
  /// impossible, and changes nothing then.
  void load_state_dict(const NamedTensors& state);

 protected:
  /// Elements of the arenas that one launch updates.
  struct Range {
    Tensor parameters;          ///< Their values.
    Tensor gradients;           ///< Of the same elements.
    std::vector<Tensor> state;  ///< In the order of the state names.
    Tensor progress;            ///< The step count (see ops/optimizer.h).
  };

  Optimizer(std::vector<Tensor> parameters, std::vector<std::string> state_names, double lr, double momentum,
            double beta2);
  /// One step over a range of the arenas.
  virtual void update(const Range& range) = 0;
  /// Learning rate and momentum in device memory (see ops/optimizer.h).
  const Tensor& hyper() const noexcept { return hyper_; }

 private:
  void check_parameters_in_place() const;
  void check_momentum(double momentum) const;
  std::vector<bool> touched_parameters() const;
  void split_progress(const std::vector<bool>& touched);
  Range range_of(std::size_t first, std::size_t last) const;

  std::vector<Tensor> parameters_;
  std::vector<std::int64_t> first_;  ///< Where each parameter begins in the arenas; last, the end.
  std::vector<std::string> state_names_;
  Tensor values_, gradients_, hyper_;
  std::vector<Tensor> state_;
  std::vector<Tensor> progress_;          ///< Parameters that took the same steps share one.
  std::vector<std::size_t> progress_of_;  ///< Of each parameter.
  double lr_, momentum_, beta2_;
  bool has_momentum_;
};

/// PyTorch's options of SGD.
struct SGDOptions {
  double lr = 1e-3;         ///< Learning rate.
  double momentum = 0;      ///< In [0, 1).
  double dampening = 0;     ///< Share of the gradient that the momentum does not take.
  double weight_decay = 0;  ///< Adds weight_decay·p to g.
  bool nesterov = false;    ///< Needs momentum, and no dampening.
};

/// g += weight_decay·p; with momentum b = momentum·b + (1 - dampening)·g (b = g in the first step), g = nesterov ?
/// g + momentum·b : b; p -= lr·g.
class CRISOL_API SGD : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> parameters, const SGDOptions& options = {});

 private:
  void update(const Range& range) override;
  ops::SgdRule rule_;
};

/// PyTorch's options of Adam.
struct AdamOptions {
  double lr = 1e-3;         ///< Learning rate.
  double beta1 = 0.9;       ///< Decay of the mean of gradients; in [0, 1).
  double beta2 = 0.999;     ///< Decay of the mean of squares; in [0, 1).
  double eps = 1e-8;        ///< Added to the root.
  double weight_decay = 0;  ///< Adds weight_decay·p to g.
};

/// g += weight_decay·p; m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; p -= lr·m/(1 - beta1^t) /
/// (sqrt(v/(1 - beta2^t)) + eps). Kingma and Ba 2015.
class CRISOL_API Adam : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});

 protected:
  Adam(std::vector<Tensor> parameters, const AdamOptions& options, bool decoupled);

 private:
  void update(const Range& range) override;
  ops::AdamRule rule_;
};

/// Adam's options with AdamW's default of weight_decay, 1e-2.
struct AdamWOptions : AdamOptions {
  explicit AdamWOptions(double rate = 1e-3) {
    lr = rate;
    weight_decay = 1e-2;
  }
};

/// Adam with p -= lr·weight_decay·p instead of the decay in g. Loshchilov and Hutter 2019.
class CRISOL_API AdamW : public Adam {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = AdamWOptions());
};

/// PyTorch's options of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2;         ///< Learning rate.
  double alpha = 0.99;      ///< Decay of the mean of squares; in [0, 1).
  double eps = 1e-8;        ///< Added to the root.
  double weight_decay = 0;  ///< Adds weight_decay·p to g.
  double momentum = 0;      ///< In [0, 1).
  bool centered = false;    ///< Divides by the variance's root instead of the mean square's.
};

/// g += weight_decay·p; v = alpha·v + (1 - alpha)·g²; centered: a = alpha·a + (1 - alpha)·g and v' = v - a², else v' =
/// v; u = g / (sqrt(v') + eps); with momentum b = momentum·b + u and p -= lr·b, else p -= lr·u.
class CRISOL_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(std::vector<Tensor> parameters, const RMSpropOptions& options = {});

 private:
  void update(const Range& range) override;
  ops::RmspropRule rule_;
  bool centered_, with_momentum_;
};

/// Sets an optimiser's rate as a function of the number of steps. Made before the first step, called after each one.
class CRISOL_API LRScheduler {
 public:
  virtual ~LRScheduler();
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// To be called after each step of the optimiser.
  void step() { set_steps(steps_ + 1); }
  /// Steps so far.
  std::int64_t steps() const noexcept { return steps_; }
  /// Sets the rate as after so many steps.
  void set_steps(std::int64_t steps);

  /// "steps", i64, and "base_lr" as the optimiser's "lr". What the constructor took besides is not in it.
  NamedTensors state_dict() const;
  /// Goes on from there, and sets the optimiser's rate. Throws invalid_argument, and changes nothing, when the state is
  /// not one of a schedule or lies beyond the end of this one.
  void load_state_dict(const NamedTensors& state);

 protected:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer), base_lr_(optimizer.lr()) {}
  /// Sets the optimiser's rate as after so many steps.
  virtual void apply(std::int64_t steps) = 0;
  /// Whose rate is set.
  Optimizer& optimizer() const noexcept { return optimizer_; }
  /// The optimiser's rate when the schedule was made.
  double base_lr() const noexcept { return base_lr_; }

 private:
  Optimizer& optimizer_;
  double base_lr_;
  std::int64_t steps_ = 0;
};

/// base_lr · gamma^floor(steps / step_size).
class CRISOL_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 private:
  void apply(std::int64_t steps) override;
  std::int64_t step_size_;
  double gamma_;
};

/// eta_min + (base_lr - eta_min) · (1 + cos(π·steps / t_max)) / 2.
class CRISOL_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min = 0);

 private:
  void apply(std::int64_t steps) override;
  std::int64_t t_max_;
  double eta_min_;
};

/// PyTorch's options of OneCycleLR.
struct OneCycleOptions {
  double pct_start = 0.3;         ///< Share of the steps in which the rate rises.
  double div_factor = 25;         ///< First rate = max_lr / div_factor.
  double final_div_factor = 1e4;  ///< Last rate = first rate / final_div_factor.
  bool cycle_momentum = true;     ///< Moves momentum (Adam: beta1) the other way, where the optimiser has one.
  double base_momentum = 0.85;    ///< At the highest rate,
  double max_momentum = 0.95;     ///< at both ends.
};

/// Cosine from max_lr / div_factor up to max_lr at step pct_start·total_steps - 1, and down to the last rate at step
/// total_steps - 1. Smith and Topin 2018; PyTorch's OneCycleLR with two phases. Stepping beyond total_steps throws
/// invalid_argument.
class CRISOL_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, std::int64_t total_steps, const OneCycleOptions& options = {});

 private:
  void apply(std::int64_t steps) override;
  double max_lr_;
  std::int64_t total_steps_;
  OneCycleOptions options_;
};

/// Scales the gradients of the parameters so that the Euclidean norm of all together is at most max_norm: factor
/// min(1, max_norm / (norm + 1e-6)). Returns the norm before, as a tensor without axes; nothing waits. Parameters
/// without a gradient are passed over; throws invalid_argument when none has one or max_norm is not positive.
CRISOL_API Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

/// Brings every element of the gradients into [-clip_value, clip_value]; NaN stays. Parameters without a gradient are
/// passed over; throws invalid_argument when none has one or clip_value is not positive.
CRISOL_API void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace crisol::optim
