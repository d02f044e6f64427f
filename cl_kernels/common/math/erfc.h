// erfc_(x). On CPUs it is e^(-x^2) times scaled_erfc_.
#include "common/math/parts/gauss.h"
#include "common/math/parts/scaled_erfc.h"

#ifdef CPU
#define DEFINE_ERFC(T, I)                                                                  \
  INLINE T JOIN(erfc_, T)(const T x) {                                                     \
    const T a = fabs(x) > 10.1f ? (T)(10.1f) : fabs(x);                                    \
    const T tail = JOIN(gauss_, T)(a, 1.0f) * JOIN(scaled_erfc_, T)(a, 1.0f, POWER_SCALE); \
    return x < 0.0f ? 2.0f - tail : tail;                                                  \
  }
#else
#define DEFINE_ERFC(T, I) \
  INLINE T JOIN(erfc_, T)(const T x) { return erfc(x); }
#endif
ON_FLOATS(DEFINE_ERFC)
