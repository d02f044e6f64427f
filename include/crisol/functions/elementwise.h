// Differentiable elementwise functions and operators: crisol/ops/elementwise.h with gradients.
//
// One function for each row of crisol/ops/pointwise.def, which holds the formulas: relu(x), leaky_relu(x, slope),
// clamp(x, lower, upper), add(a, b), maximum(a, b), … Inputs of those with two broadcast; their gradients are summed
// back to each input's shape. Comparisons (a < b as lt(a, b)) give bool and have no gradient. Errors as in
// crisol/ops/elementwise.h.
#pragma once

#include "crisol/ops/elementwise.h"

namespace crisol {

#define CRISOL_UNARY(name, ...) CRISOL_API Tensor name(const Tensor& x);
#define CRISOL_UNARY_1(name, scalar, initial, ...) CRISOL_API Tensor name(const Tensor& x, double scalar initial);
#define CRISOL_UNARY_2(name, scalar, at, scalar_2, ...) \
  CRISOL_API Tensor name(const Tensor& x, double scalar, double scalar_2);
#define CRISOL_BINARY(name, ...) CRISOL_API Tensor name(const Tensor& a, const Tensor& b);
#define CRISOL_COMPARISON(name, ...) using ops::name;
#include "crisol/ops/pointwise.def"

/// a where condition (bool) is true, else b; the three broadcast.
CRISOL_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

inline Tensor add(const Tensor& a, double b) { return add_scalar(a, b); }
inline Tensor add(double a, const Tensor& b) { return add_scalar(b, a); }
inline Tensor sub(const Tensor& a, double b) { return add_scalar(a, -b); }
inline Tensor sub(double a, const Tensor& b) { return rsub_scalar(b, a); }
inline Tensor mul(const Tensor& a, double b) { return mul_scalar(a, b); }
inline Tensor mul(double a, const Tensor& b) { return mul_scalar(b, a); }
inline Tensor div(const Tensor& a, double b) { return div_scalar(a, b); }
inline Tensor div(double a, const Tensor& b) { return rdiv_scalar(b, a); }

#define CRISOL_OPERATOR(sign, function)                                                    \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator sign(const Tensor& a, double b) { return function(a, b); }        \
  inline Tensor operator sign(double a, const Tensor& b) { return function(a, b); }
CRISOL_OPERATOR(+, add)
CRISOL_OPERATOR(-, sub)
CRISOL_OPERATOR(*, mul)
CRISOL_OPERATOR(/, div)
#undef CRISOL_OPERATOR

inline Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace crisol
