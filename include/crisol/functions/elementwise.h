// Differentiable elementwise functions and operators.
//
// There is one function for each row of crisol/ops/pointwise.def: relu(x), leaky_relu(x, slope), clamp(x, lower,
// upper), add(a, b), lerp(a, b, weight), where(condition, a, b), lt(a, b), … docs/elementwise.md lists their formulas,
// dtypes and accuracy. In-place forms are members of Tensor: x.add_(y).
//
// An Operand is a tensor or a number. At least one operand must be a tensor. Inputs broadcast: shapes are aligned at
// the last axis, and an axis of size 1 is repeated. Dtypes are promoted as in PyTorch (result_type). f16 is computed in
// float, and integers wrap around when they overflow. Inputs of f32, f16 and f64 have gradients, in their own shapes.
// Functions that give bool have no gradients.
//
// Errors (invalid_argument): an undefined tensor, a dtype that the function does not take, two devices, shapes that do
// not broadcast, a whole number that the dtype of the computation cannot hold.
#pragma once

#include <utility>

#include "crisol/ops/pointwise_parameters.h"
#include "crisol/tensor.h"

namespace crisol {

#define CRISOL_UNARY(name, x, scalars, ...) CRISOL_API Tensor name(const Tensor& x CRISOL_AND_NUMBERS_##scalars);
#define CRISOL_BINARY(name, a, b, scalars, ...) \
  CRISOL_API Tensor name(const Operand& a, const Operand& b CRISOL_AND_NUMBERS_##scalars);
#define CRISOL_TERNARY(name, a, b, c, scalars, ...) \
  CRISOL_API Tensor name(const Operand& a, const Operand& b, const Operand& c CRISOL_AND_NUMBERS_##scalars);
#include "crisol/ops/pointwise.def"

/// The f32 number next to a in the direction of b, and b where they are equal. The derivative with respect to a is 1.
/// Operands are as above, and whole numbers become f32. Refuses f16, because f16 is computed in float.
CRISOL_API Tensor nextafter(const Operand& a, const Operand& b);

// At least one operand of an operator is a tensor. Comparisons give a bool tensor, element by element: `all(x == y)`
// tells whether all elements are equal.
#define CRISOL_OPERATOR(sign, function)                                                    \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return function(a, b); } \
  inline Tensor operator sign(const Scalar& a, const Tensor& b) { return function(a, b); }
CRISOL_OPERATOR(+, add)
CRISOL_OPERATOR(-, sub)
CRISOL_OPERATOR(*, mul)
CRISOL_OPERATOR(/, div)
CRISOL_OPERATOR(%, remainder)
CRISOL_OPERATOR(==, eq)
CRISOL_OPERATOR(!=, ne)
CRISOL_OPERATOR(<, lt)
CRISOL_OPERATOR(<=, le)
CRISOL_OPERATOR(>, gt)
CRISOL_OPERATOR(>=, ge)
#undef CRISOL_OPERATOR

/// neg(x).
inline Tensor operator-(const Tensor& x) { return neg(x); }
/// logical_not(x): whether an element is 0. Any dtype.
inline Tensor operator!(const Tensor& x) { return logical_not(x); }

/// x.add_(y).
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x.add_(y); }
/// x.sub_(y).
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x.sub_(y); }
/// x.mul_(y).
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x.mul_(y); }
/// x.div_(y).
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x.div_(y); }
/// x.remainder_(y).
inline Tensor& operator%=(Tensor& x, const Operand& y) { return x.remainder_(y); }

// x[0] += y and x[Slice({}, {}, -1)] += y. With a negative step the left side is a copy. So the operator's last
// statement writes the result to the elements of x.
#define CRISOL_OPERATOR(sign, function)                     \
  inline void operator sign(Tensor&& x, const Operand& y) { \
    x.function(y);                                          \
    std::move(x) = x;                                       \
  }
CRISOL_OPERATOR(+=, add_)
CRISOL_OPERATOR(-=, sub_)
CRISOL_OPERATOR(*=, mul_)
CRISOL_OPERATOR(/=, div_)
CRISOL_OPERATOR(%=, remainder_)
#undef CRISOL_OPERATOR

}  // namespace crisol
