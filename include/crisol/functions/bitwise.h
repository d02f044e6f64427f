// Functions on whole numbers and on the bits of elements. They have no gradient.
//
// Operands are tensors or numbers, and at least one operand is a tensor. They broadcast, and their dtypes are promoted,
// as in crisol/functions/elementwise.h. The promoted dtype must have whole numbers, and the result has it. The
// functions and, or, xor and not also take bool, for which they are logical. Errors (invalid_argument): an undefined
// tensor, a floating-point operand, a bool operand of another function, two devices, shapes that do not broadcast, a
// number that the dtype cannot hold.
#pragma once

#include "crisol/functions/elementwise.h"
#include "crisol/tensor.h"

namespace crisol {

/// The bits that are 1 in a and in b. Of bool: logical_and(a, b).
CRISOL_API Tensor bitwise_and(const Operand& a, const Operand& b);

/// The bits that are 1 in a or in b. Of bool: logical_or(a, b).
CRISOL_API Tensor bitwise_or(const Operand& a, const Operand& b);

/// The bits that differ in a and b. Of bool: logical_xor(a, b).
CRISOL_API Tensor bitwise_xor(const Operand& a, const Operand& b);

/// The bits of x, each one inverted. Of bool: logical_not(x).
CRISOL_API Tensor bitwise_not(const Tensor& x);

/// The bits of a moved to the left by b places. Bits that leave the dtype are lost. A negative b, and a b of at least
/// the number of bits, give 0.
CRISOL_API Tensor bitwise_left_shift(const Operand& a, const Operand& b);

/// The bits of a moved to the right by b places. Copies of the sign enter at the left, so this is floor(a / 2^b). A
/// negative b, and a b of at least the number of bits, give 0, or -1 where a is negative.
CRISOL_API Tensor bitwise_right_shift(const Operand& a, const Operand& b);

/// a / b rounded toward zero: PyTorch's div(a, b, rounding_mode="trunc") of whole numbers. Gives 0 where b is 0. The
/// smallest number divided by -1 gives itself. For floating-point numbers write trunc(a / b).
CRISOL_API Tensor trunc_divide(const Operand& a, const Operand& b);

/// A copy of x whose bits count as elements of another dtype: PyTorch's x.view(dtype). If the sizes of the dtypes
/// differ, the last axis has more or fewer elements, and must not be missing. Refuses bool as the new dtype, because a
/// bool is only 0 or 1.
CRISOL_API Tensor bit_cast(const Tensor& x, DType dtype);

// At least one operand of an operator is a tensor. Masks are combined by &, |, ^ and ~, as in Python: `(x > 0) &
// ~used`. The forms that change x write to its elements, in the dtype of x. Refused is an operand that makes the result
// larger than x.
#define CRISOL_OPERATOR(sign, function)                                                    \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return function(a, b); } \
  inline Tensor operator sign(const Scalar& a, const Tensor& b) { return function(a, b); } \
  inline Tensor& operator sign##=(Tensor& x, const Operand& y) {                           \
    x.copy_from(function(x, y));                                                           \
    return x;                                                                              \
  }                                                                                        \
  inline void operator sign##=(Tensor&& x, const Operand& y) { std::move(x) = function(x, y); }
CRISOL_OPERATOR(&, bitwise_and)
CRISOL_OPERATOR(|, bitwise_or)
CRISOL_OPERATOR(^, bitwise_xor)
CRISOL_OPERATOR(<<, bitwise_left_shift)
CRISOL_OPERATOR(>>, bitwise_right_shift)
#undef CRISOL_OPERATOR

/// bitwise_not(x): of bool, the other value.
inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }

}  // namespace crisol
