// floor_dividei_(a, b) is the largest whole number that is not above a / b for integers, and 0 where b is 0. The
// smallest number divided by -1 is itself, because it wraps around.
#include "common/math/dividei.h"

#define DEFINE_FLOOR_DIVIDEI(T, U, last)                                                      \
  INLINE T JOIN(floor_dividei_, T)(const T a, const T b) {                                    \
    const T quotient = JOIN(dividei_, T)(a, b);                                               \
    const T rest = JOIN(as_, T)(JOIN(as_, U)(a) - JOIN(as_, U)(quotient) * JOIN(as_, U)(b));  \
    return ((b != 0) & (rest != 0) & ((a < 0) != (b < 0))) ? quotient - 1 : quotient;         \
  }
ON_INTEGERS(DEFINE_FLOOR_DIVIDEI)
