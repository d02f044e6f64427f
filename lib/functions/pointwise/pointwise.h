// Rows of the table as differentiable functions. The functions of crisol/functions/elementwise.h call them.
#pragma once

#include <initializer_list>
#include <span>

#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::autograd {

/// Calls ops::pointwise, and records it if an input wants a gradient. Saves the tensors that the wanted derivatives
/// read.
Tensor pointwise(const ops::PointwiseRow& row, std::span<const Operand> inputs, std::span<const Scalar> scalars);
inline Tensor pointwise(const ops::PointwiseRow& row, std::initializer_list<Operand> inputs,
                        std::initializer_list<Scalar> scalars = {}) {
  return autograd::pointwise(row, std::span<const Operand>(inputs.begin(), inputs.size()),
                             std::span<const Scalar>(scalars.begin(), scalars.size()));
}

/// Replaces x by the row's result for x and the other inputs. Throws if ops are recorded and x or an input wants a
/// gradient.
void pointwise_in_place(const char* op, const ops::PointwiseRow& row, const Tensor& x,
                        std::initializer_list<Operand> others, std::initializer_list<Scalar> scalars);

}  // namespace crisol::autograd
