// dividei_(a, b) = a / b for integers, rounded toward zero, and 0 where b is 0. The smallest number divided by -1 wraps
// around to itself. Without the checks, a division by 0 and this division would trap.
#include "common/math/parts/types.h"

#define DEFINE_DIVIDEI(T, U, last)                                              \
  INLINE T JOIN(dividei_, T)(const T a, const T b) {                            \
    const T quotient = a / (((b == 0) | ((b < 0) & (b == -1))) ? (T)(1) : b);   \
    const T opposite = JOIN(as_, T)((U)(0) - JOIN(as_, U)(a));                  \
    return b == 0 ? (T)(0) : (((b < 0) & (b == -1)) ? opposite : quotient);     \
  }
ON_INTEGERS(DEFINE_DIVIDEI)
