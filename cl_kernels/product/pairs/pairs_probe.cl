// Tests whether the compiler knows the builtin of product/pairs/pairs.h. y[i] = -127 i - i i.
#include "product/pairs/pairs.h"

__kernel void pairs_probe(__global int* y, const ulong y_offset) {
  const int8 lanes = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
  const int8 a = (lanes & 0xffff) | -lanes << 16, b = (-127 & 0xffff) | lanes << 16;
  vstore8(multiply_pairs(a, b), 0, y + y_offset);
}
