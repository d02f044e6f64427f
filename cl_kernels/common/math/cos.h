// cos_(x). Near 0 CPUs take the beginning of its series. PoCL's cos of a vector is wrong for |x| < 0.007 if another
// element is large: beside 3e38 it gave 0.99997 for 1e-42.
#include "common/math/types.h"

#ifdef CPU
#define DEFINE_COS(T, I) \
  INLINE T JOIN(cos_, T)(const T x) { return fabs(x) < 0.015625f ? 1.0f - x * x * 0.5f : cos(x); }
#else
#define DEFINE_COS(T, I) \
  INLINE T JOIN(cos_, T)(const T x) { return cos(x); }
#endif
ON_FLOATS(DEFINE_COS)
