// For exponentials of numbers that are not positive, which need no second factor for their exponent:
//   POWER(s)          2^(n + 64) from s = n + 12583103, the number rounded to it: exact, n = -190 … 63
//   power_poly_(r)    e^r for |r| <= log(2) / 2, by a polynomial (minimax, within 2^-28)
#include "common/math/types.h"

#define POWER(T, I, s) JOIN(as_, T)(JOIN(as_, I)(s) << 23)
#define POWER_SHIFT 12583103.0f /* 1.5 * 2^23 leaves n in the lowest bits, 191 is the bias of exponents and 64. */
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
