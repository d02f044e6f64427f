// sin_(x). On CPUs it is the beginning of the Taylor series near 0.
#include "common/near_zero.h"

#define DEFINE_SIN(T, I) \
  INLINE T JOIN(sin_, T)(const T x) { return NEAR_ZERO(x, x * (1.0f - x * x * 0.16666667f), sin(x)); }
ON_FLOATS(DEFINE_SIN)
