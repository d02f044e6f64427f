// Learning-rate schedules. Each sets the rates of all groups that an optimiser has when the schedule is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crisol/optim/optimizer.h"

namespace crisol::optim {

/// The base of the schedules, which change an optimiser's rates from step to step. Make a schedule before the first
/// step of the optimiser, and call step() after each step (or after each epoch).
///
/// As in PyTorch, most schedules multiply the present rates in each step. So several schedules of one optimiser can run
/// together. A rate that set_lr or set_param_group sets is kept, and later steps multiply it. The formulas below are
/// the rates after `steps` steps if nothing else changes the rates. LambdaLR, CosineAnnealingWarmRestarts and
/// OneCycleLR set the rates of their formulas in each step, whatever the present rates are.
///
/// base_lr is the rate that a group had when the first schedule of its optimiser was made. Groups that are added later
/// keep their own rates.
class CRISOL_API LRScheduler {
 public:
  virtual ~LRScheduler();
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Changes the rates for the next step. Call it after each step of the optimiser.
  void step();
  /// The number of steps so far.
  std::int64_t steps() const noexcept { return steps_; }
  /// Sets the rates of the formula after `steps` steps, whatever the present rates are.
  void set_steps(std::int64_t steps);
  /// The rates that this schedule set last, one for each group.
  std::vector<double> get_last_lr() const;

  /// "steps" (i64), and "base_lr" of the first group, "base_lr.1" of the second, …, in the format of the optimiser's
  /// "lr". Then follow the present rates of the optimiser: "lr", "lr.1", …. Other arguments of the constructor are not
  /// part of the state.
  virtual NamedTensors state_dict() const;
  /// Continues from a state, and sets the optimiser's rates. A state of version 0.2 has no "lr". Then the rates are
  /// computed by the formula. Throws invalid_argument, and changes nothing, if the state is not from this kind of
  /// schedule or is beyond the end of the schedule.
  virtual void load_state_dict(const NamedTensors& state);

 protected:
  /// Computes the rate of a group from its base_lr.
  using Rate = std::function<double(std::size_t group, double base_lr)>;

  /// Computes the next rate of a group from its present rate and its base_lr.
  using Change = std::function<double(double lr, double base_lr)>;

  explicit LRScheduler(Optimizer& optimizer);
  /// Sets the rates of the formula after `steps` steps.
  virtual void apply(std::int64_t steps) = 0;
  /// Changes the rates in step `steps`, from the rates before the step to the rates after it. Constructors call it with
  /// 0. By default it sets the rates of the formula.
  virtual void advance(std::int64_t steps);
  /// Changes the rate of every group. Throws as set_rates does.
  void change_rates(const Change& change);
  /// Replaces base_lr of every group, also for schedules that are made later.
  void set_base_lrs(std::vector<double> rates);
  /// Sets the rate of every group. Throws invalid_argument, and changes nothing, for a rate that is negative or not
  /// finite.
  void set_rates(const Rate& rate);
  /// Sets the momentum (beta1) of every group that has one.
  void set_momentum(double momentum);
  /// The groups whose rates are set.
  std::size_t groups() const noexcept { return base_lrs_.size(); }

 private:
  friend class SequentialLR;
  /// The rates of the groups that the schedule sets.
  std::vector<double> present_rates() const;
  Optimizer& optimizer_;
  std::vector<double> base_lrs_, last_lrs_;
  std::int64_t steps_ = 0;
};

/// base_lr · f(steps), with one function for all groups or one function for each group.
class CRISOL_API LambdaLR : public LRScheduler {
 public:
  /// Gives the factor of base_lr after this number of steps.
  using Factor = std::function<double(std::int64_t steps)>;
  LambdaLR(Optimizer& optimizer, Factor factor);
  /// Throws invalid_argument unless there are as many functions as groups.
  LambdaLR(Optimizer& optimizer, std::vector<Factor> factors);

 private:
  void apply(std::int64_t steps) override;
  std::vector<Factor> factors_;
};

/// base_lr · gamma^floor(steps / step_size).
class CRISOL_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  std::int64_t step_size_;
  double gamma_;
};

/// base_lr · gamma^n, where n is the number of milestones that are at most `steps`. Each of equal milestones counts.
class CRISOL_API MultiStepLR : public LRScheduler {
 public:
  /// Throws invalid_argument if a milestone is negative or below the one before.
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  std::vector<std::int64_t> milestones_;
  double gamma_;
};

/// base_lr · gamma^steps.
class CRISOL_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  double gamma_;
};

/// Warm-up at one low rate: base_lr · factor for total_iters steps, then base_lr.
class CRISOL_API ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5);

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  double factor_;
  std::int64_t total_iters_;
};

/// Warm-up along a line: base_lr · (start_factor + (end_factor - start_factor) · min(steps / total_iters, 1)).
class CRISOL_API LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    std::int64_t total_iters = 5);

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  double start_factor_, end_factor_;
  std::int64_t total_iters_;
};

/// eta_min + (base_lr - eta_min) · (1 + cos(π·steps / t_max)) / 2.
class CRISOL_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t t_max, double eta_min = 0);

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  std::int64_t t_max_;
  double eta_min_;
};

/// Repeats CosineAnnealingLR. The first run takes t_0 steps. Each later run takes t_mult times as many steps as the run
/// before. Loshchilov and Hutter 2017.
class CRISOL_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t t_0, std::int64_t t_mult = 1, double eta_min = 0);

 private:
  void apply(std::int64_t steps) override;
  std::int64_t t_0_, t_mult_;
  double eta_min_;
};

/// PyTorch's options of OneCycleLR.
struct OneCycleOptions {
  double pct_start = 0.3;         ///< Share of the steps during which the rate rises.
  double div_factor = 25;         ///< First rate = max_lr / div_factor.
  double final_div_factor = 1e4;  ///< Last rate = first rate / final_div_factor.
  bool cycle_momentum = true;     ///< Moves momentum (Adam: beta1) in the opposite direction, if there is one.
  double base_momentum = 0.85;    ///< Momentum at the highest rate.
  double max_momentum = 0.95;     ///< Momentum at the first and the last step.
  bool linear = false;            ///< Along lines instead of cosines.
  bool three_phase = false;  ///< First falls back to the first rate, as fast as it rose, and then to the last rate.
};

/// The rate rises along a cosine from max_lr / div_factor to max_lr at step pct_start·total_steps - 1. Then it falls
/// along a cosine to the last rate at step total_steps - 1. Smith and Topin 2018; PyTorch's OneCycleLR.
/// A step beyond total_steps throws invalid_argument.
class CRISOL_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, std::int64_t total_steps, const OneCycleOptions& options = {});
  /// The same with one highest rate for each group. Throws invalid_argument if the numbers of rates and groups differ.
  OneCycleLR(Optimizer& optimizer, std::vector<double> max_lrs, std::int64_t total_steps,
             const OneCycleOptions& options = {});

 private:
  void apply(std::int64_t steps) override;
  std::vector<double> max_lrs_;
  std::int64_t total_steps_;
  OneCycleOptions options_;
};

/// One schedule after another. It starts from base_lr. The first schedule runs until step milestones[0]. There the
/// second starts with the rate of its own step 0, and so on.
///
///     optim::SequentialLR schedule(optimizer, {std::make_shared<optim::LinearLR>(optimizer, 0.1, 1, 5),
///                                              std::make_shared<optim::CosineAnnealingLR>(optimizer, 95)}, {5});
class CRISOL_API SequentialLR : public LRScheduler {
 public:
  /// The number of milestones is one less than the number of schedules. The milestones must not fall, and all schedules
  /// must belong to this optimiser. Otherwise throws invalid_argument. A schedule between equal milestones is left out.
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedules,
               std::vector<std::int64_t> milestones);

  /// "steps", and the states of the schedules as "schedules.0.steps", ….
  NamedTensors state_dict() const override;
  void load_state_dict(const NamedTensors& state) override;

 private:
  void apply(std::int64_t steps) override;
  void advance(std::int64_t steps) override;
  std::vector<std::shared_ptr<LRScheduler>> schedules_;
  std::vector<std::int64_t> milestones_;
};

/// PyTorch's options of ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
  std::string mode = "min";            ///< "min": the metric should fall. "max": it should rise.
  double factor = 0.1;                 ///< A rate becomes max(rate · factor, min_lr). The factor is below 1.
  std::int64_t patience = 10;          ///< This many calls without an improvement are accepted.
  double threshold = 1e-4;             ///< Smaller improvements do not count.
  std::string threshold_mode = "rel";  ///< "rel": threshold is a share of the best metric. "abs": a difference.
  std::int64_t cooldown = 0;           ///< For this many calls after a change of rates, no call counts as bad.
  double min_lr = 0;                   ///< The lowest rate.
  double eps = 1e-8;                   ///< A rate stays if it would change by less.
};

/// Lowers the rates when a metric no longer improves.
class CRISOL_API ReduceLROnPlateau {
 public:
  /// Throws invalid_argument for a bad option.
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});
  ReduceLROnPlateau(const ReduceLROnPlateau&) = delete;
  ReduceLROnPlateau& operator=(const ReduceLROnPlateau&) = delete;

  /// Call it with the metric after each validation. NaN is no improvement.
  void step(double metric);
  /// The rates of the optimiser's groups.
  std::vector<double> get_last_lr() const;
  /// The best metric so far. It starts as infinity, with "max" as -infinity.
  double best() const noexcept { return best_; }

  /// "best" in the format of the optimiser's "lr", and "bad" and "cooldown", both i64.
  NamedTensors state_dict() const;
  /// Continues from a state. The rates are part of the optimiser's state. Throws invalid_argument, and changes nothing,
  /// for another state.
  void load_state_dict(const NamedTensors& state);

 private:
  bool is_better(double metric) const;
  Optimizer& optimizer_;
  ReduceLROnPlateauOptions options_;
  double best_;
  std::int64_t bad_ = 0, cooldown_ = 0;
};

}  // namespace crisol::optim
