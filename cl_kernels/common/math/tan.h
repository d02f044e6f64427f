// tan_(x). On CPUs it is the beginning of the Taylor series near 0.
#include "common/near_zero.h"

#define DEFINE_TAN(T, I) \
  INLINE T JOIN(tan_, T)(const T x) { return NEAR_ZERO(x, x * (1.0f + x * x * 0.33333333f), tan(x)); }
ON_FLOATS(DEFINE_TAN)
