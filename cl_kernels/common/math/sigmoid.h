// sigmoid_(x) = 1 / (1 + e^-x), without overflow, and with the precision of small values. On CPUs, with e^-x = p / 2^m,
// it is 2^m / (2^m + p). The error is at most 2 ulp there, also where the result is subnormal.
#include "common/math/parts/power.h"

#ifdef CPU
#define DEFINE_SIGMOID(T, I)                                                 \
  INLINE T JOIN(sigmoid_, T)(const T x) {                                    \
    const T below = x > 40.0f ? (T)(40.0f) : x;                              \
    const T v = below < -105.0f ? (T)(-105.0f) : below;                      \
    const T shifted = FMA(v, (T)(1.44269504f), (T)(POWER_SHIFT));            \
    const T m = shifted - POWER_SHIFT;                                       \
    const T r = FMA(m, (T)(-2.12194440e-4f), FMA(m, (T)(0.693359375f), -v)); \
    const T power = POWER(T, I, shifted) * POWER_SCALE;                      \
    return power / (power + JOIN(power_poly_, T)(r));                        \
  }
#else
#define DEFINE_SIGMOID(T, I)                        \
  INLINE T JOIN(sigmoid_, T)(const T x) {           \
    const T e = exp(-fabs(x));                      \
    return (x < 0.0f ? e : (T)(1.0f)) / (1.0f + e); \
  }
#endif
ON_FLOATS(DEFINE_SIGMOID)
