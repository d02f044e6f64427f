// rint_(x), the whole number nearest to x. For halves it is the even number. On CPUs a sum with 2^23 rounds |x|,
// because PoCL's own rint() takes thirty instructions.
#include "common/math/parts/types.h"

#ifdef CPU
#define DEFINE_RINT(T, I)                                                   \
  INLINE T JOIN(rint_, T)(const T x) {                                      \
    const T a = fabs(x);                                                    \
    return a < 8388608.0f ? copysign((a + 8388608.0f) - 8388608.0f, x) : x; \
  }
#else
#define DEFINE_RINT(T, I) \
  INLINE T JOIN(rint_, T)(const T x) { return rint(x); }
#endif
ON_FLOATS(DEFINE_RINT)
