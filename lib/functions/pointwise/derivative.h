// Derivatives of rows as differentiable functions, for gradients of gradients.
#pragma once

#include <cstddef>
#include <span>

#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::autograd {

/// The same as ops::pointwise_backward, but computed by rows that are recorded, so a new row needs no more code. The
/// inputs are not reshaped, and broadcast to the shape of dy. f16 is computed in f32, and the result is f32. If the
/// derivative calls a function that has no row, backward through the result throws and names the row.
Tensor derivative(const ops::PointwiseRow& row, std::size_t k, const Tensor& dy, std::span<const Operand> inputs,
                  const Tensor& y, std::span<const Scalar> scalars);

}  // namespace crisol::autograd
