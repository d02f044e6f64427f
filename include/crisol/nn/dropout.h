// Dropout layer.
#pragma once

#include "crisol/nn/module.h"

namespace crisol::nn {

/// In training, sets each element to zero with probability p, independently, and multiplies the others by 1 / (1 - p).
/// After eval(), the output is the input itself. Uses the default generator of the input's device. Throws
/// invalid_argument for p outside [0, 1].
class CRISOL_API Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The probability of a zero.
  double p() const noexcept { return p_; }

 private:
  double p_;
};

}  // namespace crisol::nn
