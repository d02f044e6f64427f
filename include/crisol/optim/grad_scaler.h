// The scale of a loss, which keeps gradients of f16 from becoming 0.
#pragma once

#include <cstdint>
#include <memory>

#include "crisol/optim/optimizer.h"

namespace crisol::optim {

/// Options of GradScaler, with PyTorch's defaults.
struct GradScalerOptions {
  double init_scale = 65536;            ///< The first scale.
  double growth_factor = 2;             ///< Multiplies the scale after growth_interval steps without an overflow.
  double backoff_factor = 0.5;          ///< Multiplies the scale after an overflow.
  std::int64_t growth_interval = 2000;  ///< The number of steps after which the scale grows.
  bool enabled = true;                  ///< If false, the scale is 1 and nothing else changes.
};

/// Multiplies the loss by a scale, so that gradients do not become 0 in f16, and divides the gradients by it before a
/// step. If a gradient is infinite or NaN, the step changes neither parameters nor states nor step counts, and the
/// scale shrinks. All this is decided on the device, and nothing waits. So a step with a scaler can be captured. Make
/// the scaler before the capture.
///
///     crisol::optim::GradScaler scaler;
///     …
///     optimizer.zero_grad();
///     scaler.scale(loss).backward();
///     scaler.unscale_(optimizer);  // Only needed to look at gradients, or to clip them.
///     scaler.step(optimizer);
///     scaler.update();
class CRISOL_API GradScaler {
 public:
  /// Throws invalid_argument unless growth_factor > 1, 0 < backoff_factor < 1 and growth_interval > 0.
  explicit GradScaler(const GradScalerOptions& options = {}, Device device = Device());
  ~GradScaler();
  GradScaler(const GradScaler&) = delete;
  GradScaler& operator=(const GradScaler&) = delete;

  /// loss · scale, in f32.
  Tensor scale(const Tensor& loss) const;
  /// Divides the optimiser's gradients by the scale, in place, and looks for an overflow. step() does it if nobody did.
  /// Throws invalid_argument if it was called since the last update(), after step(), and for gradients of two bytes,
  /// which cannot hold small gradients without a scale: train f32 parameters with an Autocast.
  void unscale_(Optimizer& optimizer);
  /// optimizer.step(), if no gradient overflowed. Throws invalid_argument if it was called since the last update().
  void step(Optimizer& optimizer);
  /// Changes the scale for the next step. Call it once after the steps of all optimisers. Throws invalid_argument if no
  /// gradients were unscaled since the last update().
  void update();
  /// Sets the scale, which is positive and finite.
  void update(double new_scale);

  /// Whether a gradient of the optimiser overflowed since the last update(): 1 or 0, in f32 of shape (1). It is
  /// undefined if the gradients were not unscaled.
  Tensor overflow(const Optimizer& optimizer) const;
  /// The scale. Waits for the device.
  double get_scale() const;
  bool is_enabled() const noexcept;  ///< GradScalerOptions::enabled.
  /// The device of the parameters.
  Device device() const;
  double get_growth_factor() const noexcept;          ///< GradScalerOptions::growth_factor.
  void set_growth_factor(double factor);              ///< It must be above 1.
  double get_backoff_factor() const noexcept;         ///< GradScalerOptions::backoff_factor.
  void set_backoff_factor(double factor);             ///< It must be above 0 and below 1.
  std::int64_t get_growth_interval() const noexcept;  ///< GradScalerOptions::growth_interval.
  void set_growth_interval(std::int64_t interval);    ///< It must be positive.

  /// "scale", "growth_tracker", "growth_factor", "backoff_factor" and "growth_interval". Empty if the scaler is not
  /// enabled.
  NamedTensors state_dict() const;
  /// Restores a state from state_dict(). Throws invalid_argument, and changes nothing, for another state.
  void load_state_dict(const NamedTensors& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crisol::optim
