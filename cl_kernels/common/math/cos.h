// cos_(x). On CPUs it is the beginning of the Taylor series near 0.
#include "common/near_zero.h"

#define DEFINE_COS(T, I) \
  INLINE T JOIN(cos_, T)(const T x) { return NEAR_ZERO(x, 1.0f - x * x * 0.5f, cos(x)); }
ON_FLOATS(DEFINE_COS)
