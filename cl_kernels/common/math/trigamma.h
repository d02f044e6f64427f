// trigamma_(x) is the derivative of digamma(x):
//   x >= 6       its asymptotic series
//   0 <= x < 6   trigamma(x) = trigamma(x+1) + 1/x^2
//   x < 0        trigamma(x) = (pi / sin(pi x))^2 - trigamma(1-x)
// It is inf at 0, -1, -2, ...
#include "common/math/parts/types.h"

#define DEFINE_TRIGAMMA(T, I)                                                                     \
  INLINE T JOIN(trigamma_, T)(const T x) {                                                        \
    T at = x < 0.0f ? 1.0f - x : x;                                                               \
    T sum = (T)(0.0f);                                                                            \
    for (int i = 0; i < 6; ++i) {                                                                 \
      sum = at < 6.0f ? sum + 1.0f / (at * at) : sum;                                             \
      at = at < 6.0f ? at + 1.0f : at;                                                            \
    }                                                                                             \
    const T r = 1.0f / at, r2 = r * r;                                                            \
    const T series = 0.16666667f - r2 * (0.033333333f - r2 * (0.023809524f - r2 * 0.033333333f)); \
    sum = sum + r + 0.5f * r2 + r * r2 * series;                                                  \
    const T part = x - rint(x);                                                                   \
    const T height = 3.14159265f / sin(3.14159265f * part);                                       \
    return x < 0.0f ? height * height - sum : sum;                                                \
  }
ON_FLOATS(DEFINE_TRIGAMMA)
