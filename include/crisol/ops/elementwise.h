// Raw elementwise ops, not recorded by autograd. Inputs may have any strides. Results are contiguous.
//
// The table crisol/ops/pointwise.def has one row for each op, and docs/elementwise.md lists the formulas. A row
// declares functions like these:
//
//   Tensor relu(const Tensor& x)                           and  Tensor relu_backward(const Tensor& dy, const Tensor& y)
//   Tensor leaky_relu(const Tensor& x, Scalar slope)       and  Tensor leaky_relu_backward(dy, x, slope)
//   Tensor mul(const Operand& a, const Operand& b)
//   Tensor lerp(const Operand& a, const Operand& b, const Operand& weight)
//
// and for each of them a function with "_into" that writes to a given tensor: relu_into(out, x). crisol/ops.h says what
// `out` may be.
//
// An Operand is a tensor or a number. At least one operand must be a tensor. Inputs broadcast: shapes are aligned at
// the last axis, and an axis of size 1 is repeated. Dtypes are promoted as in PyTorch (result_type). f16 is computed in
// float, and integers wrap around when they overflow. Numbers are arguments of the kernel, so a new number compiles
// nothing. A backward function returns dy times the derivative. It may return dy itself.
//
// Errors (invalid_argument), with nothing written: an undefined tensor, a dtype that the op does not take, two devices,
// shapes that do not broadcast, a whole number that the dtype of the computation cannot hold.
#pragma once

#include "crisol/ops/pointwise_parameters.h"
#include "crisol/tensor.h"

namespace crisol::ops {

#define CRISOL_UNARY(name, x, scalars, rule, saved, ...)                                               \
  CRISOL_API Tensor name(const Tensor& x CRISOL_AND_NUMBERS_##scalars);                                \
  CRISOL_API void name##_into(const Tensor& out, const Tensor& x CRISOL_AND_NUMBERS_##scalars);        \
  CRISOL_GRADIENT_##rule(                                                                              \
      CRISOL_API Tensor name##_backward(const Tensor& dy CRISOL_SAVED_##saved CRISOL_TAKES_##scalars); \
      CRISOL_API void name##_backward_into(const Tensor& out,                                          \
                                           const Tensor& dy CRISOL_SAVED_##saved CRISOL_TAKES_##scalars);)
#define CRISOL_BINARY(name, a, b, scalars, ...)                                            \
  CRISOL_API Tensor name(const Operand& a, const Operand& b CRISOL_AND_NUMBERS_##scalars); \
  CRISOL_API void name##_into(const Tensor& out, const Operand& a, const Operand& b CRISOL_AND_NUMBERS_##scalars);
#define CRISOL_TERNARY(name, a, b, c, scalars, ...)                                                          \
  CRISOL_API Tensor name(const Operand& a, const Operand& b, const Operand& c CRISOL_AND_NUMBERS_##scalars); \
  CRISOL_API void name##_into(const Tensor& out, const Operand& a, const Operand& b,                         \
                              const Operand& c CRISOL_AND_NUMBERS_##scalars);
#include "crisol/ops/pointwise.def"

/// dst += alpha * src. src is broadcast to dst's shape. Both may have any strides. Refuses a dst with an expanded axis.
CRISOL_API void accumulate_into(const Tensor& dst, const Tensor& src, double alpha = 1);

}  // namespace crisol::ops
