// Optimiser steps over flat tensors, and clipping, without autograd. Users call crisol/optim.h.
//
// All tensors of a call are f32, contiguous, on one device, and of equally many elements; a whole arena or any part of
// it is one launch. Numbers that change from step to step live in device memory, so that a captured step can be
// replayed:
//
//   hyper     (4): lr, momentum or beta1, 1 - beta1, log(beta1); written by the host with write_hyper
//   progress  (4): t, 1 - beta1^t, sqrt(1 - beta2^t), unused; zeros at first, advanced on the device
//
// Every function throws Error (invalid_argument) for a wrong dtype, size, device or number, before anything is written.
#pragma once

#include <vector>

#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// Room for what write_hyper writes, contents undefined.
CRISOL_API Tensor make_hyper(Device device);
/// lr >= 0; momentum (beta1 of Adam) in [0, 1).
CRISOL_API void write_hyper(const Tensor& hyper, double lr, double momentum);

/// t zero.
CRISOL_API Tensor make_progress(Device device);
/// t becomes t + 1 and the bias corrections follow; to be called before a step. They are right to 5e-7 of their value
/// for any t up to 2^24, where t stays: every beta2 below 0.999999 has reached a correction of 1 there. beta2 in [0,
/// 1).
CRISOL_API void advance_step(const Tensor& progress, const Tensor& hyper, double beta2 = 0);

/// What of an SGD step does not change.
struct SgdRule {
  double dampening = 0;     ///< Share of the gradient that the momentum does not take.
  double weight_decay = 0;  ///< Adds weight_decay p to g.
  bool nesterov = false;    ///< Looks one step of momentum ahead.
  bool maximize = false;    ///< Climbs: -g takes the place of g.
};

/// One step of PyTorch's SGD: g += weight_decay p; where `momenta` is defined b = momentum b + (1 - dampening) g (b = g
/// at t = 1) and g = nesterov ? g + momentum b : b; p -= lr g. An undefined `momenta` means no momentum.
CRISOL_API void sgd_step(const Tensor& parameters, const Tensor& gradients, const Tensor& momenta, const Tensor& hyper,
                         const Tensor& progress, const SgdRule& rule = {});

/// What of an Adam step does not change.
struct AdamRule {
  double beta2 = 0.999;     ///< Decay of the mean of squares.
  double eps = 1e-8;        ///< Added to the root.
  double weight_decay = 0;  ///< Adds weight_decay p to g, unless decoupled.
  bool decoupled = false;   ///< AdamW: the decay shrinks the parameter itself, by lr weight_decay.
  bool maximize = false;    ///< Climbs: -g takes the place of g.
};

/// One step of PyTorch's Adam (or AdamW): m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g^2;
/// p -= lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps), g with weight_decay p added unless decoupled. Where
/// `max_squares` is defined, max_squares = max(max_squares, v) takes the place of v in the root (AMSGrad).
CRISOL_API void adam_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& squares,
                          const Tensor& max_squares, const Tensor& hyper, const Tensor& progress,
                          const AdamRule& rule = {});

/// What of a Lion step does not change.
struct LionRule {
  double beta2 = 0.99;      ///< Decay of the mean of gradients.
  double weight_decay = 0;  ///< Shrinks the parameter itself, by lr weight_decay.
  bool maximize = false;    ///< Climbs: -g takes the place of g.
};

/// One step of Lion (Chen et al. 2023): u = sign(beta1 m + (1 - beta1) g), NaN where the sum is NaN;
/// p -= lr (u + weight_decay p); m = beta2 m + (1 - beta2) g.
CRISOL_API void lion_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& hyper,
                          const LionRule& rule = {});

/// What of an RMSprop step does not change.
struct RmspropRule {
  double alpha = 0.99;      ///< Decay of the means.
  double eps = 1e-8;        ///< Added to the root.
  double weight_decay = 0;  ///< Adds weight_decay p to g.
  bool maximize = false;    ///< Climbs: -g takes the place of g.
};

/// One step of PyTorch's RMSprop: g += weight_decay p; v = alpha v + (1 - alpha) g^2; where `means` is defined
/// a += (1 - alpha) (g - a) and v' = max(v - a^2, 0), else v' = v; u = g / (sqrt(v') + eps); p -= lr u, or where
/// `momenta` is defined b = momentum b + u and p -= lr b.
CRISOL_API void rmsprop_step(const Tensor& parameters, const Tensor& gradients, const Tensor& squares,
                             const Tensor& means, const Tensor& momenta, const Tensor& hyper,
                             const RmspropRule& rule = {});

/// One step of a moving average: at t = 1 averages = parameters, later averages += lr (parameters - averages), where lr
/// of `hyper` is 1 - decay.
CRISOL_API void average_step(const Tensor& averages, const Tensor& parameters, const Tensor& hyper,
                             const Tensor& progress);

/// The Euclidean norm of all elements of the parts together, as a tensor without axes; the same bits on every run. The
/// relative error is below 2e-6 up to 10^8 elements; f32 overflows where the norm exceeds 1.8e19.
CRISOL_API Tensor global_norm(const std::vector<Tensor>& parts);

/// x *= min(1, max_norm / (norm + 1e-6)) in place; `norm` is read on the device, nothing waits. A NaN norm gives NaN.
CRISOL_API void scale_by_clip(const Tensor& x, const Tensor& norm, double max_norm);

}  // namespace crisol::ops
