// Raw dropout, not recorded by autograd.
#pragma once

#include "crisol/random.h"
#include "crisol/tensor.h"

namespace crisol::ops {

/// The result of dropout, and the mask that dropout_backward needs.
struct DropoutResult {
  Tensor y;     ///< The result, in x's shape.
  Tensor mask;  ///< u8 in y's shape: 1 if the element was kept, else 0.
};

/// Sets each element of x (floating-point numbers) to 0 with probability p, and divides the others by 1 - p. With p = 1
/// all are 0. p is rounded up to a multiple of 2^-24. Every device drops the same elements: an element is dropped if
/// rand(x.shape(), generator) would be below p at its position. Refuses p outside [0, 1] and a generator on another
/// device.
CRISOL_API DropoutResult dropout(const Tensor& x, double p, const Generator& generator);
CRISOL_API void dropout_into(const Tensor& y, const Tensor& mask, const Tensor& x, double p,
                             const Generator& generator);

/// The gradient of x: dy / (1 - p) for elements with mask 1, else 0.
CRISOL_API Tensor dropout_backward(const Tensor& dy, const Tensor& mask, double p);
CRISOL_API void dropout_backward_into(const Tensor& out, const Tensor& dy, const Tensor& mask, double p);

}  // namespace crisol::ops
