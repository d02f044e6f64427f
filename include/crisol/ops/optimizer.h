// Raw optimiser steps over flat tensors, and clipping of gradients, not recorded by autograd. Users call
// crisol/optim.h.
//
// All tensors of a call are f32 or all are f64, contiguous, on one device, and have the same number of elements. If the
// parameters are f32, gradients may be f16 or bf16, and momenta of SGD and RMSprop may have the gradients' type. One
// call is one launch, for a whole arena or a part of an arena. Numbers that change from step to step are in device
// memory, so that a captured step can be replayed:
//
//   hyper     (5): lr, momentum or beta1, 1 - beta1, log(beta1); written by the host with write_hyper;
//                  skip: a step with a value other than 0 changes nothing, and advance_step does not count it
//   progress  (4): t, 1 - beta1^t, sqrt(1 - beta2^t), unused; zeros at first, advanced on the device
//
// Every function throws Error (invalid_argument) for a wrong dtype, size, device or number, before anything is written.
#pragma once

#include <cstdint>
#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Makes a `hyper` tensor with undefined contents. write_hyper fills it.
CRISOL_API Tensor make_hyper(Device device);
/// Writes the learning rate and the momentum (for Adam, beta1) to `hyper`. Refuses lr < 0, and a momentum outside [0,
/// 1).
CRISOL_API void write_hyper(const Tensor& hyper, double lr, double momentum);

/// Sets the value `skip` of `hyper` to the only element of `value`, on the device. An undefined tensor sets it to 0.
CRISOL_API void set_skip(const Tensor& hyper, const Tensor& value);

/// Makes a `progress` tensor with t = 0.
CRISOL_API Tensor make_progress(Device device);
/// Increments t and computes the bias corrections for the new t. Call it before each step. beta2 is in [0, 1). The
/// relative error of the corrections is at most 5e-7. t stops at 2^24, because there the correction is 1 for every
/// beta2 below 0.999999.
CRISOL_API void advance_step(const Tensor& progress, const Tensor& hyper, double beta2 = 0);

/// Settings of SGD that stay the same from step to step.
struct SgdRule {
  double dampening = 0;     ///< A gradient enters the momentum with the factor 1 - dampening.
  double weight_decay = 0;  ///< Adds weight_decay p to g.
  bool nesterov = false;    ///< Looks one step of momentum ahead (Nesterov).
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// One step of PyTorch's SGD, for parameters p, gradients g and momenta b. An undefined `momenta` means no momentum.
/// The formulas are applied in this order:
/// g += weight_decay p;
/// with momentum: b = momentum b + (1 - dampening) g, but b = g at t = 1; then g = nesterov ? g + momentum b : b;
/// p -= lr g.
CRISOL_API void sgd_step(const Tensor& parameters, const Tensor& gradients, const Tensor& momenta, const Tensor& hyper,
                         const Tensor& progress, const SgdRule& rule = {});

/// Settings of Adam and AdamW that stay the same from step to step.
struct AdamRule {
  double beta2 = 0.999;     ///< Decay of the mean of squares.
  double eps = 1e-8;        ///< Added to the square root.
  double weight_decay = 0;  ///< Adds weight_decay p to g, unless decoupled.
  bool decoupled = false;   ///< AdamW: the decay shrinks the parameter itself, by lr weight_decay.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// One step of PyTorch's Adam, for parameters p, gradients g, means m and squares v:
/// g += weight_decay p for Adam, or p -= lr weight_decay p for AdamW (decoupled);
/// m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g^2;
/// p -= lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps).
/// If `max_squares` is defined (AMSGrad), max_squares = max(max_squares, v) replaces v under the root.
/// `progress` may have one element instead: t, the number of this step. Then advance_step is not needed.
CRISOL_API void adam_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& squares,
                          const Tensor& max_squares, const Tensor& hyper, const Tensor& progress,
                          const AdamRule& rule = {});

/// Settings of Lion that stay the same from step to step.
struct LionRule {
  double beta2 = 0.99;      ///< Decay of the mean of gradients.
  double weight_decay = 0;  ///< Shrinks the parameter itself, by lr weight_decay.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// One step of Lion (Chen et al. 2023), for parameters p, gradients g and means m:
/// u = sign(beta1 m + (1 - beta1) g), and u is NaN if the sum is NaN;
/// p -= lr (u + weight_decay p); m = beta2 m + (1 - beta2) g.
CRISOL_API void lion_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& hyper,
                          const LionRule& rule = {});

/// Settings of RMSprop that stay the same from step to step.
struct RmspropRule {
  double alpha = 0.99;      ///< Decay of the means.
  double eps = 1e-8;        ///< Added to the square root.
  double weight_decay = 0;  ///< Adds weight_decay p to g.
  bool maximize = false;    ///< Maximises: uses -g instead of g.
};

/// One step of PyTorch's RMSprop, for parameters p, gradients g, squares v, means a and momenta b:
/// g += weight_decay p; v = alpha v + (1 - alpha) g^2;
/// if `means` is defined: a += (1 - alpha) (g - a) and v' = max(v - a^2, 0); otherwise v' = v;
/// u = g / (sqrt(v') + eps);
/// if `momenta` is defined: b = momentum b + u and p -= lr b; otherwise p -= lr u.
CRISOL_API void rmsprop_step(const Tensor& parameters, const Tensor& gradients, const Tensor& squares,
                             const Tensor& means, const Tensor& momenta, const Tensor& hyper,
                             const RmspropRule& rule = {});

/// One step of a moving average. If the averages are f64, hyper and progress are f64. At t = 1 it sets averages =
/// parameters. Later it adds lr (parameters - averages) to averages. The lr in `hyper` is 1 - decay.
CRISOL_API void average_step(const Tensor& averages, const Tensor& parameters, const Tensor& hyper,
                             const Tensor& progress);

/// Divides gradients by the first element of `scale`, in place. Sets the only element of `overflow` to 1 if a gradient
/// is infinite or NaN. Otherwise it stays as it is.
CRISOL_API void unscale(const Tensor& gradients, const Tensor& scale, const Tensor& overflow);

/// How a scale grows and shrinks.
struct ScaleRule {
  double growth_factor = 2;             ///< The scale is multiplied by it after `growth_interval` steps.
  double backoff_factor = 0.5;          ///< The scale is multiplied by it after an overflow.
  std::int64_t growth_interval = 2000;  ///< The number of steps without an overflow after which the scale grows.
};

/// Updates `scale` (2), the scale and the number of steps since it changed, as PyTorch does: if `overflow` is not 0,
/// the scale shrinks. A scale that would become infinite does not grow. Sets `overflow` to 0.
CRISOL_API void update_scale(const Tensor& scale, const Tensor& overflow, const ScaleRule& rule = {});

/// The Euclidean norm of all elements of all parts, as an f32 tensor without axes, or f64 if a part is f64. Every run
/// gives the same bits. The relative error is below 2e-6 for up to 10^8 elements. f32 overflows if the norm
/// exceeds 1.8e19.
CRISOL_API Tensor global_norm(const std::vector<Tensor>& parts);

/// x *= min(1, max_norm / (norm + 1e-6)), in place. The device reads `norm`, so nothing waits. A NaN norm gives NaN.
CRISOL_API void scale_by_clip(const Tensor& x, const Tensor& norm, double max_norm);

}  // namespace crisol::ops
