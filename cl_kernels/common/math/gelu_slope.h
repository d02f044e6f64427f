// gelu_slope_(x), the derivative of x normal_cdf_(x).
#include "common/math/normal_cdf.h"

#define DEFINE_GELU_SLOPE(T, I)                                                      \
  INLINE T JOIN(gelu_slope_, T)(const T x) {                                         \
    return JOIN(normal_cdf_, T)(x) + 0.39894228f * x * JOIN(exp_, T)(-0.5f * x * x); \
  }
ON_FLOATS(DEFINE_GELU_SLOPE)
