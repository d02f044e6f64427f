// The moving average of a model's parameters.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/tensor.h"

namespace crisol::optim {

/// Options of EMA.
struct EMAOptions {
  double decay = 0.999;  ///< Weight of the old average in an update; in [0, 1].
};

/// An exponential moving average of parameters. It often has a better test accuracy than the parameters themselves. It
/// follows PyTorch's AveragedModel with get_ema_multi_avg_fn: the first update() copies the parameters. Later updates
/// compute average = decay·average + (1 - decay)·parameter. Parameters in the arena of an optimiser are averaged by one
/// launch, so make the optimiser first. Buffers, such as the running means of batch norm, are not averaged.
///
///     optim::EMA ema(net.parameters(), {.decay = 0.99});
///     …
///     optimizer.step();
///     ema.update();
///     …
///     ema.apply();    // The net computes with the averages.
///     evaluate(net);
///     ema.restore();  // Back to the values that train.
class CRISOL_API EMA {
 public:
  /// Parameters must be of floating-point numbers, and contiguous. The averages are f32, or f64 if a parameter is f64.
  /// They start as copies. A parameter that appears twice counts once.
  /// Throws invalid_argument for other parameters, an empty list, several devices, and a decay outside [0, 1].
  explicit EMA(std::vector<Tensor> parameters, const EMAOptions& options = {});
  /// EMA(parameters, {.decay = decay}).
  EMA(std::vector<Tensor> parameters, double decay) : EMA(std::move(parameters), EMAOptions{decay}) {}
  ~EMA();
  EMA(const EMA&) = delete;
  EMA& operator=(const EMA&) = delete;

  /// Updates the averages with the current values of the parameters. It may be part of a captured step. Throws
  /// invalid_argument between apply() and restore().
  void update();
  /// Gives the parameters the values of the averages, and keeps their own values for restore(). Throws invalid_argument
  /// if apply() was called before without restore().
  void apply();
  /// Gives the parameters back the values that they had before apply(). Throws invalid_argument without apply().
  void restore();

  /// The averages, in the order of the constructor.
  std::vector<Tensor> averages() const;

  /// The averages "average.0", …, and "progress" with the number of updates.
  NamedTensors state_dict() const;
  /// Restores a state from state_dict() of an EMA with the same parameters. Throws invalid_argument, with all missing,
  /// unexpected and different entries, for another state, and also between apply() and restore(). An error changes
  /// nothing.
  void load_state_dict(const NamedTensors& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crisol::optim
