// gelu_slope_(x) is the derivative of x normal_cdf_(x). normal_cdf_ computes gauss_ anyway, and the density comes from
// it.
#include "common/math/normal_cdf.h"

#define DEFINE_GELU_SLOPE(T, I)                                                     \
  INLINE T JOIN(gelu_slope_, T)(const T x) {                                        \
    const T a = fabs(x) > 14.3f ? (T)(14.3f) : fabs(x);                             \
    const T density = JOIN(gauss_, T)(a, 0.5f) * (0.39894228f * POWER_SCALE);       \
    return FMA(copysign(a, x), density, JOIN(normal_cdf_, T)(x));                   \
  }
ON_FLOATS(DEFINE_GELU_SLOPE)
