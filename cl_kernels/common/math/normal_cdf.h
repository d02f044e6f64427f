// normal_cdf_(x): the probability that a standard normal variable is at most x, exact far to the left.
#include "common/math/scaled_erfc.h"

#ifdef CPU
// erfc(z) / 2 with z = |x| / sqrt(2); e^(-x^2 / 2) from x^2 and what its rounding left out.
#define DEFINE_NORMAL_CDF(T, I)                                        \
  INLINE T JOIN(normal_cdf_, T)(const T x) {                           \
    const T a = fabs(x) > 14.3f ? (T)(14.3f) : fabs(x);                \
    const T square = a * a, left = FMA(a, a, -square);                 \
    const T e = JOIN(exp_, T)(-0.5f * square) * (0.5f - 0.25f * left); \
    const T tail = e * JOIN(scaled_erfc_, T)(a * 0.70710678f);         \
    return x < 0.0f ? tail : 1.0f - tail;                              \
  }
#else
#define DEFINE_NORMAL_CDF(T, I) \
  INLINE T JOIN(normal_cdf_, T)(const T x) { return 0.5f * erfc(x * -0.70710678f); }
#endif
ON_FLOATS(DEFINE_NORMAL_CDF)
