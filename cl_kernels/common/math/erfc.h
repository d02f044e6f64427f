// erfc_(x). On CPUs e^(-x^2) times its scaled function, from x^2 and what its rounding left out.
#include "common/math/scaled_erfc.h"

#ifdef CPU
#define DEFINE_ERFC(T, I)                               \
  INLINE T JOIN(erfc_, T)(const T x) {                  \
    const T a = fabs(x) > 10.1f ? (T)(10.1f) : fabs(x); \
    const T square = a * a, left = FMA(a, a, -square);  \
    const T e = JOIN(exp_, T)(-square) * (1.0f - left); \
    const T tail = e * JOIN(scaled_erfc_, T)(a);        \
    return x < 0.0f ? 2.0f - tail : tail;               \
  }
#else
#define DEFINE_ERFC(T, I) \
  INLINE T JOIN(erfc_, T)(const T x) { return erfc(x); }
#endif
ON_FLOATS(DEFINE_ERFC)
