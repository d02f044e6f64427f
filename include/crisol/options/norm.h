// Options of normalisations.
#pragma once

namespace crisol {

/// Options of batch_norm2d.
struct BatchNormOptions {
  bool training = true;   ///< Normalises with the statistics of the batch; false: with the running statistics.
  double momentum = 0.1;  ///< Weight of the batch in the update of the running statistics; in [0, 1].
  double epsilon = 1e-5;  ///< Added to the variance; not negative.
};

}  // namespace crisol
