// Raw elementwise ops: f32 unless said otherwise, any strides, results contiguous. Not recorded by autograd.
//
// The table crisol/ops/pointwise.def holds each op's formula; from its rows come
//
//   Tensor relu(const Tensor& x)                       and  Tensor relu_backward(const Tensor& dy, const Tensor& y)
//   Tensor leaky_relu(const Tensor& x, double slope)   and  Tensor leaky_relu_backward(dy, x, slope)
//   Tensor mul(const Tensor& a, const Tensor& b)       and  mul_backward_a(dy, a, b), mul_backward_b(dy, a, b)
//   Tensor lt(const Tensor& a, const Tensor& b)        and  lt(const Tensor& a, double b)
//
// Inputs broadcast: shapes are aligned at the last axis, and an axis of size 1 is repeated. A backward gives the
// derivative with respect to one input, times dy, in the broadcast shape: sum_to (crisol/ops/reduce.h) brings it back
// to the input's. It may return dy itself. Scalars are rounded to f32 and are arguments of the kernel: a new one
// compiles nothing. Errors (invalid_argument): an undefined tensor, another dtype, two devices, shapes that do not
// broadcast.
#pragma once

#include "crisol/tensor.h"

namespace crisol::ops {

#define CRISOL_SAVED_none
#define CRISOL_SAVED_x , const Tensor& x
#define CRISOL_SAVED_y , const Tensor& y
#define CRISOL_SAVED_ab , const Tensor &a, const Tensor &b

#define CRISOL_UNARY(name, saved, ...)     \
  CRISOL_API Tensor name(const Tensor& x); \
  CRISOL_API Tensor name##_backward(const Tensor& dy CRISOL_SAVED_##saved);
#define CRISOL_UNARY_1(name, scalar, initial, at, saved, ...)     \
  CRISOL_API Tensor name(const Tensor& x, double scalar initial); \
  CRISOL_API Tensor name##_backward(const Tensor& dy CRISOL_SAVED_##saved, double scalar);
#define CRISOL_UNARY_2(name, scalar, at, scalar_2, at_2, saved, ...)       \
  CRISOL_API Tensor name(const Tensor& x, double scalar, double scalar_2); \
  CRISOL_API Tensor name##_backward(const Tensor& dy CRISOL_SAVED_##saved, double scalar, double scalar_2);
#define CRISOL_BINARY(name, saved, ...)                                       \
  CRISOL_API Tensor name(const Tensor& a, const Tensor& b);                   \
  CRISOL_API Tensor name##_backward_a(const Tensor& dy CRISOL_SAVED_##saved); \
  CRISOL_API Tensor name##_backward_b(const Tensor& dy CRISOL_SAVED_##saved);
// Comparisons take any dtype, the same for both, and give bool. The scalar must be whole for integers and bool.
#define CRISOL_COMPARISON(name, ...)                        \
  CRISOL_API Tensor name(const Tensor& a, const Tensor& b); \
  CRISOL_API Tensor name(const Tensor& a, double b);
#include "crisol/ops/pointwise.def"

#undef CRISOL_SAVED_none
#undef CRISOL_SAVED_x
#undef CRISOL_SAVED_y
#undef CRISOL_SAVED_ab

inline Tensor add(const Tensor& a, double b) { return add_scalar(a, b); }
inline Tensor add(double a, const Tensor& b) { return add_scalar(b, a); }
inline Tensor sub(const Tensor& a, double b) { return add_scalar(a, -b); }
inline Tensor sub(double a, const Tensor& b) { return rsub_scalar(b, a); }
inline Tensor mul(const Tensor& a, double b) { return mul_scalar(a, b); }
inline Tensor mul(double a, const Tensor& b) { return mul_scalar(b, a); }
inline Tensor div(const Tensor& a, double b) { return div_scalar(a, b); }
inline Tensor div(double a, const Tensor& b) { return rdiv_scalar(b, a); }

/// dst += alpha * src, of the same shape; any strides. Refuses a dst with an expanded axis.
CRISOL_API void add_into(const Tensor& dst, const Tensor& src, double alpha = 1);

/// dst *= value; any strides. Refuses a dst with an expanded axis.
CRISOL_API void mul_scalar_into(const Tensor& dst, double value);

/// a where condition (bool) is true, else b; the three broadcast. a and b have the same dtype, any one.
CRISOL_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// dy where condition is true, else 0.
CRISOL_API Tensor where_backward_a(const Tensor& dy, const Tensor& condition);
/// dy where condition is false, else 0.
CRISOL_API Tensor where_backward_b(const Tensor& dy, const Tensor& condition);

}  // namespace crisol::ops
