// Operands of products, which are saved only if a gradient reads them.
#pragma once

#include "autograd/saved.h"

namespace crisol::autograd {

/// Saves an operand that only the gradient of `input` reads. It is undefined if `input` wants no gradient. So a product
/// with a frozen weight does not keep its other operand, and this operand may be overwritten.
inline Saved saved_for(const Tensor& input, const Tensor& operand) {
  return Saved(input.defined() && input.requires_grad() ? operand : Tensor());
}

}  // namespace crisol::autograd
