// sin_(x). Near 0 CPUs take the beginning of its series. PoCL's sin of a vector is wrong for |x| < 0.007 if another
// element is large: beside 3e38 it gave 0.0078 for 1e-42.
#include "common/math/types.h"

#ifdef CPU
#define DEFINE_SIN(T, I) \
  INLINE T JOIN(sin_, T)(const T x) { return fabs(x) < 0.015625f ? x * (1.0f - x * x * 0.16666667f) : sin(x); }
#else
#define DEFINE_SIN(T, I) \
  INLINE T JOIN(sin_, T)(const T x) { return sin(x); }
#endif
ON_FLOATS(DEFINE_SIN)
