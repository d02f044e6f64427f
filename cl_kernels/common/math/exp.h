// exp_(x), also where the result is subnormal. On CPUs the error is at most 1.1 ulp.
#include "common/math/parts/reduced_exp.h"

#ifdef CPU
// 2^n is applied as two factors, because n may be outside the range of a float's exponent.
#define DEFINE_EXP(T, I)                                                                    \
  INLINE T JOIN(exp_, T)(const T x) {                                                       \
    const T above = x < -104.0f ? (T)(-104.0f) : x;                                         \
    I n;                                                                                    \
    const T p = JOIN(reduced_exp_, T)(above > 89.0f ? (T)(89.0f) : above, &n) + 1.0f;       \
    const I half_n = n >> 1;                                                                \
    return p * JOIN(as_, T)((half_n + 127) << 23) * JOIN(as_, T)((n - half_n + 127) << 23); \
  }
#else
#define DEFINE_EXP(T, I) \
  INLINE T JOIN(exp_, T)(const T x) { return exp(x); }
#endif
ON_FLOATS(DEFINE_EXP)
