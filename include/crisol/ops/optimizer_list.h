// Steps of lists of parameters.
#pragma once

#include <vector>

#include "crisol/ops/optimizer.h"

namespace crisol::ops {

/// A parameter and the buffers of its Adam step. All are flat.
struct AdamBuffers {
  Tensor parameters;   ///< f32 or f64.
  Tensor gradients;    ///< Of any type that adam_step() takes.
  Tensor means;        ///< Running means of the gradients.
  Tensor squares;      ///< Running means of their squares.
  Tensor max_squares;  ///< Undefined without AMSGrad.
  Tensor number;       ///< The number of this step, as adam_step() takes it for `progress`.
};

/// adam_step() for each parameter of a list, in fewer launches. All parameters are on one device.
CRISOL_API void adam_steps(const std::vector<AdamBuffers>& list, const Tensor& hyper, const AdamRule& rule = {});

}  // namespace crisol::ops
