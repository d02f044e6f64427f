// digamma_(x) is the derivative of log Gamma(x):
//   x >= 6       its asymptotic series
//   0 <= x < 6   digamma(x) = digamma(x+1) - 1/x
//   x < 0        digamma(x) = digamma(1-x) - pi / tan(pi x)
// It is NaN at -1, -2, …, -inf at 0 and inf at -0.
#include "common/math/log.h"

#define DEFINE_DIGAMMA(T, I)                                                                                   \
  INLINE T JOIN(digamma_, T)(const T x) {                                                                      \
    T at = x < 0.0f ? 1.0f - x : x;                                                                            \
    T sum = (T)(0.0f);                                                                                         \
    for (int i = 0; i < 6; ++i) {                                                                              \
      sum = at < 6.0f ? sum - 1.0f / at : sum;                                                                 \
      at = at < 6.0f ? at + 1.0f : at;                                                                         \
    }                                                                                                          \
    const T r = 1.0f / at, r2 = r * r;                                                                         \
    sum = sum + JOIN(log_, T)(at) - 0.5f * r - r2 * (0.083333333f - r2 * (0.0083333333f - r2 * 0.003968254f)); \
    const T part = x - rint(x);                                                                                \
    return x < 0.0f ? sum - 3.14159265f / tan(3.14159265f * (part == 0.0f ? (T)(NAN) : part)) : sum;           \
  }
ON_FLOATS(DEFINE_DIGAMMA)
