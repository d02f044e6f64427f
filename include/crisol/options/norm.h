// Options of normalisations.
#pragma once

namespace crisol {

/// Options of batch_norm2d and instance_norm.
struct BatchNormOptions {
  bool training = true;   ///< Normalises with the statistics of the input; false: with the running statistics.
  double momentum = 0.1;  ///< Weight of the input in the update of the running statistics; in [0, 1].
  double epsilon = 1e-5;  ///< Added to the variance; not negative.
};

}  // namespace crisol
