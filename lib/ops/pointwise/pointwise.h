// Rows of the table as raw ops. The functions of crisol/ops/elementwise.h call them.
#pragma once

#include <initializer_list>
#include <span>

#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::ops {

using Operands = std::span<const Operand>;
using Scalars = std::span<const Scalar>;

/// A row of tensors and numbers, at least one tensor; a new contiguous tensor.
Tensor pointwise(const PointwiseRow& row, Operands inputs, Scalars scalars = {});
inline Tensor pointwise(const PointwiseRow& row, std::initializer_list<Operand> inputs,
                        std::initializer_list<Scalar> scalars = {}) {
  return pointwise(row, Operands(inputs.begin(), inputs.size()), Scalars(scalars.begin(), scalars.size()));
}

/// A row whose result goes to an existing tensor, which may be one of the inputs. The result must be convertible to its
/// dtype without change of kind (floating to whole, anything to bool are refused). `op` names the caller in messages.
void pointwise_into(const char* op, const PointwiseRow& row, const Tensor& output, Operands inputs,
                    Scalars scalars = {});
inline void pointwise_into(const char* op, const PointwiseRow& row, const Tensor& output,
                           std::initializer_list<Operand> inputs, std::initializer_list<Scalar> scalars = {}) {
  pointwise_into(op, row, output, Operands(inputs.begin(), inputs.size()), Scalars(scalars.begin(), scalars.size()));
}

/// The derivative of a row by its input k, times dy, in the broadcast shape and the dtype of dy. Returns dy itself if
/// it is the result. Inputs, and y, that the derivative does not read may be undefined tensors.
Tensor pointwise_backward(const PointwiseRow& row, std::size_t k, const Tensor& dy, Operands inputs, const Tensor& y,
                          Scalars scalars = {});
inline Tensor pointwise_backward(const PointwiseRow& row, std::size_t k, const Tensor& dy,
                                 std::initializer_list<Operand> inputs, const Tensor& y,
                                 std::initializer_list<Scalar> scalars = {}) {
  return pointwise_backward(row, k, dy, Operands(inputs.begin(), inputs.size()), y,
                            Scalars(scalars.begin(), scalars.size()));
}

/// The second input of a row with RowRule::channel as it broadcasts: (C) as (C, 1, 1) beside (N, C, H, W).
Shape channel_shape(const Shape& x, const Shape& weight);

}  // namespace crisol::ops
