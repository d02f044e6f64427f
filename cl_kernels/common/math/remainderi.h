// remainderi_(a, b) is the remainder of a / b with the sign of b, and 0 where b is 0.
#include "common/math/fmodi.h"

#define DEFINE_REMAINDERI(T, U, last)                                 \
  INLINE T JOIN(remainderi_, T)(const T a, const T b) {               \
    const T rest = JOIN(fmodi_, T)(a, b);                             \
    return ((rest != 0) & ((rest < 0) != (b < 0))) ? rest + b : rest; \
  }
ON_INTEGERS(DEFINE_REMAINDERI)
