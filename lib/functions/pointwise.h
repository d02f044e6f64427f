// Rows of the table as differentiable functions: what those of crisol/functions/elementwise.h call.
#pragma once

#include <initializer_list>
#include <span>

#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::autograd {

/// ops::pointwise, recorded where an input wants a gradient. Saved is what the derivatives of those inputs read.
Tensor pointwise(const ops::PointwiseRow& row, std::span<const Operand> inputs, std::span<const Scalar> scalars);
inline Tensor pointwise(const ops::PointwiseRow& row, std::initializer_list<Operand> inputs,
                        std::initializer_list<Scalar> scalars = {}) {
  return pointwise(row, std::span<const Operand>(inputs.begin(), inputs.size()),
                   std::span<const Scalar>(scalars.begin(), scalars.size()));
}

/// x becomes the row of x and the other inputs. Refused while ops are recorded if x or an input wants a gradient.
void pointwise_in_place(const char* op, const ops::PointwiseRow& row, const Tensor& x,
                        std::initializer_list<Operand> others, std::initializer_list<Scalar> scalars);

}  // namespace crisol::autograd
