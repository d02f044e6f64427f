// A vector of one number for each channel, for use together with images.
#pragma once

#include "crisol/tensor.h"

namespace crisol {

/// A vector (C) as (C, 1, …), which broadcasts over a tensor (N, C, …) with `rank` axes.
inline Tensor by_channel(const Tensor& numbers, int rank) {
  Shape shape = Shape::filled(rank - 1, 1);
  shape[0] = numbers.numel();
  return numbers.reshape(shape);
}

}  // namespace crisol
