// Exponentials of numbers that are not positive. Their exponent needs only one factor:
//   POWER(s)          2^(n + 64), exact, for n = -190 … 63; s is n + 12583103
#include "common/math/parts/types.h"

#define POWER(T, I, s) JOIN(as_, T)(JOIN(as_, I)(s) << 23)
#define POWER_SHIFT 12583103.0f /* 1.5 * 2^23 leaves n in the lowest bits; 191 = 127 (the bias of exponents) + 64. */
#define POWER_SCALE 5.42101086e-20f /* 2^-64 */

#define DEFINE_POWER_POLY(T, I)                                   \
  INLINE T JOIN(power_poly_, T)(const T r) {                      \
    T p = FMA(r, (T)(1.38144800e-3f), (T)(8.36877991e-3f));       \
    p = FMA(p, r, (T)(4.16683927e-2f));                           \
    p = FMA(p, r, (T)(1.66665196e-1f));                           \
    p = FMA(p, r, (T)(4.99999940e-1f));                           \
    p = FMA(p, r, (T)(1.0f));                                     \
    return FMA(p, r, (T)(1.0f));                                  \
  }
ON_FLOATS(DEFINE_POWER_POLY)
