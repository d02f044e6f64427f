// shift_right_(a, b) = a >> b for integers; copies of the sign enter at the left. A negative b, and a b of at least the
// number of bits, leave only copies of the sign: 0 or -1.
#include "common/math/parts/types.h"

#define DEFINE_SHIFT_RIGHT(T, U, bits) \
  INLINE T JOIN(shift_right_, T)(const T a, const T b) { return a >> (((b < 0) | (b > bits)) ? (T)(bits) : b); }
ON_INTEGERS(DEFINE_SHIFT_RIGHT)
