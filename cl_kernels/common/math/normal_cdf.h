// normal_cdf_(x) is the probability that a standard normal variable is at most x. It is precise even far to the left.
// For x < 0 it is erfc(z) / 2 with z = |x| / sqrt(2). OpenCL's erfc would get a rounded z, and the result would have
// x^2 times the relative error of z.
#include "common/math/parts/gauss.h"
#include "common/math/parts/scaled_erfc.h"

#define DEFINE_NORMAL_CDF(T, I)                                                                                 \
  INLINE T JOIN(normal_cdf_, T)(const T x) {                                                                    \
    const T a = fabs(x) > 14.3f ? (T)(14.3f) : fabs(x);                                                         \
    const T tail = JOIN(gauss_, T)(a, 0.5f) * JOIN(scaled_erfc_, T)(a, 0.707106781f, 0.5f * POWER_SCALE);       \
    return x < 0.0f ? tail : 1.0f - tail;                                                                       \
  }
ON_FLOATS(DEFINE_NORMAL_CDF)
