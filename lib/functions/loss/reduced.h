// The last step of losses.
#pragma once

#include "crisol/functions/reduce.h"
#include "crisol/options/loss.h"

namespace crisol {

/// The losses themselves, their sum or their mean.
inline Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::none ? losses : reduction == Reduction::sum ? sum(losses) : mean(losses);
}

}  // namespace crisol
