// Whether two tensors share elements.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

enum class Overlap : std::uint8_t {
  none,
  same,     ///< Element for element: equal shapes, strides and places.
  partial,  ///< Some element of one is another element of the other, or that cannot be ruled out.
};

Overlap overlap_of(const Tensor& a, const Tensor& b);

}  // namespace crisol::ops
