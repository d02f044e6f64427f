// shift_left_(a, b) = a << b for integers. A negative b, and a b of at least the number of bits, give 0.
#include "common/math/parts/types.h"

#define DEFINE_SHIFT_LEFT(T, U, last)                                    \
  INLINE T JOIN(shift_left_, T)(const T a, const T b) {                  \
    const T by = ((b < 0) | (b > last)) ? (T)(0) : b;                    \
    const T shifted = JOIN(as_, T)(JOIN(as_, U)(a) << JOIN(as_, U)(by)); \
    return ((b < 0) | (b > last)) ? (T)(0) : shifted;                    \
  }
ON_INTEGERS(DEFINE_SHIFT_LEFT)
