// Rows of the table as raw ops. The functions of crisol/ops/elementwise.h call them.
#pragma once

#include <initializer_list>
#include <span>

#include "crisol/tensor.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::ops {

using Operands = std::span<const Operand>;
using Scalars = std::span<const Scalar>;

/// A row and its inputs.
struct RowCall {
  const PointwiseRow& row;
  Operands inputs;
};

/// Whether a type of whole numbers in registers holds a number, without its fraction.
bool fits(const Scalar& number, DType type);

/// Refuses to divide whole numbers by the number 0, and to raise them to a negative number.
void check_whole(const PointwiseRow& row, const Operand& x, std::int64_t number);

/// The row that computes another one for these inputs.
inline RowCall row_call(const PointwiseRow& row, Operands inputs) {
  if (inputs.size() != 2 || inputs[1].tensor() != nullptr) return {row, inputs};
  if (is_square_root(row, inputs[1].number())) return {rows::sqrt, inputs.first(1)};
  const Scalar number = inputs[1].number();
  if (!is_floating(number.dtype()) && number.as_double() <= 0) check_whole(row, inputs[0], number.as_int());
  return {row, inputs};
}

/// Computes a row of tensors and numbers, with at least one tensor. Returns a new contiguous tensor, or writes `into`
/// (ops/result.h).
Tensor pointwise(const PointwiseRow& row, Operands inputs, Scalars scalars = {}, const Tensor* into = nullptr);
inline Tensor pointwise(const PointwiseRow& row, std::initializer_list<Operand> inputs,
                        std::initializer_list<Scalar> scalars = {}, const Tensor* into = nullptr) {
  return pointwise(row, Operands(inputs.begin(), inputs.size()), Scalars(scalars.begin(), scalars.size()), into);
}

/// Computes a row into an existing tensor, which may be one of the inputs. The result is converted to its dtype, but
/// not to a lower kind: floating to whole and anything to bool are refused. Messages name the caller `op`.
void pointwise_into(const char* op, const PointwiseRow& row, const Tensor& output, Operands inputs,
                    Scalars scalars = {});
inline void pointwise_into(const char* op, const PointwiseRow& row, const Tensor& output,
                           std::initializer_list<Operand> inputs, std::initializer_list<Scalar> scalars = {}) {
  pointwise_into(op, row, output, Operands(inputs.begin(), inputs.size()), Scalars(scalars.begin(), scalars.size()));
}

/// dy times the derivative of a row with respect to its input k, in the broadcast shape and the dtype of dy. Returns dy
/// itself if the derivative is 1 and `into` is nullptr. Inputs and y may be undefined if the derivative does not read
/// them.
Tensor pointwise_backward(const PointwiseRow& row, std::size_t k, const Tensor& dy, Operands inputs, const Tensor& y,
                          Scalars scalars = {}, const Tensor* into = nullptr);
inline Tensor pointwise_backward(const PointwiseRow& row, std::size_t k, const Tensor& dy,
                                 std::initializer_list<Operand> inputs, const Tensor& y,
                                 std::initializer_list<Scalar> scalars = {}, const Tensor* into = nullptr) {
  return pointwise_backward(row, k, dy, Operands(inputs.begin(), inputs.size()), y,
                            Scalars(scalars.begin(), scalars.size()), into);
}

/// The shape to which the second input of a row with RowRule::channel is brought: (C) becomes (C, 1, 1) for an x (N, C,
/// H, W).
Shape channel_shape(const Shape& x, const Shape& weight);

}  // namespace crisol::ops
