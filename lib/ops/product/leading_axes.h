// The axes of a batch of matrices before the last two.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

inline Shape leading_axes(const Shape& shape) {
  return Shape(shape.begin(), static_cast<std::size_t>(shape.rank() - 2));
}

/// The strides of x along its leading axes, broadcast to the shape `joint`. A stride is 0 if x is repeated along the
/// axis.
inline Shape leading_strides(const Tensor& x, const Shape& joint) {
  Shape strides = Shape::filled(joint.rank(), 0);
  const int ahead = joint.rank() - (x.dim() - 2);
  for (int i = 0; i + 2 < x.dim(); ++i)
    if (x.shape()[i] != 1) strides[ahead + i] = x.strides()[i];
  return strides;
}

}  // namespace crisol::ops
