// decay_(a) = e^-a for a >= 0, also where the result is subnormal. On CPUs the error is at most 1.1 ulp.
#include "common/math/parts/power.h"

#ifdef CPU
#define DEFINE_DECAY(T, I)                                                              \
  INLINE T JOIN(decay_, T)(const T a) {                                                 \
    const T x = a > 105.0f ? (T)(105.0f) : a;                                           \
    const T shifted = FMA(x, (T)(-1.44269504f), (T)(POWER_SHIFT));                      \
    const T whole = shifted - POWER_SHIFT;                                              \
    const T r = FMA(whole, (T)(2.12194440e-4f), FMA(whole, (T)(-0.693359375f), -x));    \
    return JOIN(power_poly_, T)(r) * POWER(T, I, shifted) * POWER_SCALE;                \
  }
#else
#define DEFINE_DECAY(T, I) \
  INLINE T JOIN(decay_, T)(const T a) { return exp(-a); }
#endif
ON_FLOATS(DEFINE_DECAY)
