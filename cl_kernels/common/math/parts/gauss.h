// gauss_(a, k) = 2^64 e^(-k a^2) for k = 1 or 0.5 and k a^2 <= 105, for CPUs. a^2 is never rounded by itself, so the
// result is as exact for large a as for small a. The factor 2^64 keeps the result from being subnormal until the caller
// multiplies it by its other factors.
#include "common/math/parts/power.h"

#define DEFINE_GAUSS(T, I)                                                                 \
  INLINE T JOIN(gauss_, T)(const T a, const float k) {                                     \
    const T shifted = FMA(a * a, (T)(k * -1.44269504f), (T)(POWER_SHIFT));                 \
    const T whole = shifted - POWER_SHIFT;                                                 \
    const T rest = FMA(a, a, whole * (0.693359375f / k));                                  \
    return JOIN(power_poly_, T)(FMA(whole, (T)(-2.12194440e-4f / k), rest) * -k) * POWER(T, I, shifted); \
  }
ON_FLOATS(DEFINE_GAUSS)
