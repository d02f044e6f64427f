// expm1_(x) = e^x - 1. On CPUs the error is at most 2 ulp.
#include "common/math/parts/reduced_exp.h"

#ifdef CPU
// (e^r - 1) 2^n + (2^n - 1). Half of it is computed and doubled at the end, because 2^128 is not a float. Below -20 the
// result is -1.
#define DEFINE_EXPM1(T, I)                                                     \
  INLINE T JOIN(expm1_, T)(const T x) {                                        \
    const T above = x < -20.0f ? (T)(-20.0f) : x;                              \
    I n;                                                                       \
    const T p = JOIN(reduced_exp_, T)(above > 89.0f ? (T)(89.0f) : above, &n); \
    const T half_power = JOIN(as_, T)((n + 126) << 23);                        \
    const T y = 2.0f * FMA(p, half_power, half_power - 0.5f);                  \
    return fabs(x) < 1e-8f ? x : y; /* Keeps -0 and subnormal numbers. */      \
  }
#else
#define DEFINE_EXPM1(T, I) \
  INLINE T JOIN(expm1_, T)(const T x) { return expm1(x); }
#endif
ON_FLOATS(DEFINE_EXPM1)
