// Raw elementwise ops, any strides, results contiguous. Not recorded by autograd.
//
// The table crisol/ops/pointwise.def holds each op's formula, docs/elementwise.md lists them; from its rows come
//
//   Tensor relu(const Tensor& x)                           and  Tensor relu_backward(const Tensor& dy, const Tensor& y)
//   Tensor leaky_relu(const Tensor& x, Scalar slope)       and  Tensor leaky_relu_backward(dy, x, slope)
//   Tensor mul(const Operand& a, const Operand& b)
//   Tensor lerp(const Operand& a, const Operand& b, const Operand& weight)
//
// An Operand is a tensor or a number; at least one must be a tensor. Inputs broadcast: shapes are aligned at the last
// axis, and an axis of size 1 is repeated. Dtypes are promoted as PyTorch's are (result_type); computed are f16 in
// float, whole numbers modulo their size. Numbers are arguments of the kernel: a new one compiles nothing. A backward
// gives the derivative times dy and may return dy itself.
//
// Errors (invalid_argument), with nothing written: an undefined tensor, a dtype that the row does not take, two
// devices, shapes that do not broadcast, a whole number that does not fit the dtype computed in.
#pragma once

#include "crisol/ops/pointwise_parameters.h"
#include "crisol/tensor.h"

namespace crisol::ops {

#define CRISOL_UNARY(name, x, scalars, rule, saved, ...)                \
  CRISOL_API Tensor name(const Tensor& x CRISOL_AND_NUMBERS_##scalars); \
  CRISOL_GRADIENT_##rule(                                               \
      CRISOL_API Tensor name##_backward(const Tensor& dy CRISOL_SAVED_##saved CRISOL_TAKES_##scalars);)
#define CRISOL_BINARY(name, a, b, scalars, ...) \
  CRISOL_API Tensor name(const Operand& a, const Operand& b CRISOL_AND_NUMBERS_##scalars);
#define CRISOL_TERNARY(name, a, b, c, scalars, ...) \
  CRISOL_API Tensor name(const Operand& a, const Operand& b, const Operand& c CRISOL_AND_NUMBERS_##scalars);
#include "crisol/ops/pointwise.def"

/// dst += alpha * src, which broadcasts to it; any strides. Refuses a dst with an expanded axis.
CRISOL_API void add_into(const Tensor& dst, const Tensor& src, double alpha = 1);

}  // namespace crisol::ops
