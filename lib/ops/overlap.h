// Whether two tensors share elements.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

enum class Overlap : std::uint8_t {
  none,
  same,     ///< Every element is the same element: equal shapes, strides and places.
  partial,  ///< An element of one is another element of the other, or this cannot be excluded.
};

Overlap overlap_of(const Tensor& a, const Tensor& b);

}  // namespace crisol::ops
