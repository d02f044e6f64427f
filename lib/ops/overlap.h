// Whether indices share elements: of two tensors, or of one.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

enum class Overlap : std::uint8_t {
  none,
  same,     ///< Every element is the same element: equal shapes, strides and places.
  partial,  ///< An element of one is another element of the other, or this cannot be excluded.
};

/// Strides may be negative.
Overlap overlap_of(const Tensor& a, const Tensor& b);

/// Whether several indices mean the same element.
bool repeats_elements(const Tensor& x);

}  // namespace crisol::ops
