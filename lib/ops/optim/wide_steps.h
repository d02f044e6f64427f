// Steps of optimisers in f64. They are made of other ops.
#pragma once

#include "crisol/ops/optimizer.h"

namespace crisol::ops {

void wide_sgd_step(const Tensor& parameters, const Tensor& gradients, const Tensor& momenta, const Tensor& hyper,
                   const Tensor& progress, const SgdRule& rule);
void wide_adam_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& squares,
                    const Tensor& max_squares, const Tensor& hyper, const Tensor& progress, const AdamRule& rule);
void wide_lion_step(const Tensor& parameters, const Tensor& gradients, const Tensor& means, const Tensor& hyper,
                    const LionRule& rule);
void wide_rmsprop_step(const Tensor& parameters, const Tensor& gradients, const Tensor& squares, const Tensor& means,
                       const Tensor& momenta, const Tensor& hyper, const RmspropRule& rule);
void wide_average_step(const Tensor& averages, const Tensor& parameters, const Tensor& hyper, const Tensor& progress);
void wide_advance_step(const Tensor& progress, const Tensor& hyper, double beta2);
/// The norm of all elements of all parts, some of which are f64. Sums of parts of f64 are f64.
Tensor wide_global_norm(const std::vector<Tensor>& parts);

}  // namespace crisol::ops
