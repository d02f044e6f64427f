// tanh_(x). On CPUs it is t / (t + 2) with t = e^2|x| - 1 and the sign of x; the error is at most 3 ulp.
#include "common/math/parts/reduced_exp.h"

#ifdef CPU
#define DEFINE_TANH(T, I)                                                       \
  INLINE T JOIN(tanh_, T)(const T x) {                                          \
    const T a = fabs(x);                                                        \
    I n;                                                                        \
    const T p = JOIN(reduced_exp_, T)(2.0f * (a > 10.0f ? (T)(10.0f) : a), &n); \
    const T power = JOIN(as_, T)((n + 127) << 23);                              \
    const T t = FMA(p, power, power - 1.0f);                                    \
    return copysign(t / (t + 2.0f), x);                                         \
  }
#else
#define DEFINE_TANH(T, I) \
  INLINE T JOIN(tanh_, T)(const T x) { return tanh(x); }
#endif
ON_FLOATS(DEFINE_TANH)
