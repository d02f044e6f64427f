// Raw dropout. Not recorded by autograd.
#pragma once

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The result, and what its backward needs.
struct DropoutResult {
  Tensor y;     ///< Of x's shape.
  Tensor mask;  ///< u8 of y's shape: 1 where the element was kept.
};

/// Each element of x f32 is 0 with probability p (rounded up to a multiple of 2^-24), else x / (1 - p); with p = 1 all
/// are 0. Which ones is the same on every device: element i, counted outermost axis first, is dropped where
/// rand(x.shape(), generator) would give less than p. Refuses p outside [0, 1] and a generator on another device.
CRISOL_API DropoutResult dropout(const Tensor& x, double p, const Generator& generator);

/// The gradient of x: dy / (1 - p) where the mask is 1, else 0.
CRISOL_API Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p);

}  // namespace crisol::ops
