// shift_right_(a, b) = a >> b for integers. Copies of the sign enter at the left, or zeros if the type has no sign. A
// negative b, and a b of at least the number of bits, leave only these: 0 or -1.
#include "common/math/parts/types.h"

#define DEFINE_SHIFT_RIGHT(T, U, last)                                        \
  INLINE T JOIN(shift_right_, T)(const T a, const T b) {                      \
    return ((b < 0) | (b > last)) ? (a >> (T)(last)) >> 1 : a >> (b & last); \
  }
ON_INTEGERS(DEFINE_SHIFT_RIGHT)
