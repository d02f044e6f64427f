// log_(x). On CPUs the error is at most 1.5 ulp: x = (1 + m) 2^e with 0.75 <= 1 + m < 1.5.
#include "common/math/parts/reduced_log.h"

#ifdef CPU
#define DEFINE_LOG(T, I)                                                                                 \
  INLINE T JOIN(log_, T)(const T x) {                                                                    \
    const T scaled = x < 1.17549435e-38f ? x * 8388608.0f : x; /* Subnormal numbers have no exponent. */ \
    const T shift = x < 1.17549435e-38f ? (T)(-23.0f) : (T)(0.0f);                                       \
    const I bits = JOIN(as_, I)(scaled), e = (bits - 0x3f400000) & (I)(0xff800000);                      \
    const T m = JOIN(as_, T)(bits - e) - 1.0f;                                                           \
    const T power = FMA(JOIN(convert_, T)(e), (T)(1.1920929e-7f), shift);                                \
    const T y = FMA(power, (T)(0.693147182f), JOIN(reduced_log_, T)(m));                                 \
    const T special = x == 0.0f ? (T)(-INFINITY) : (x < 0.0f ? (T)(NAN) : x);                            \
    return ((x > 0.0f) & (x < INFINITY)) ? y : special;                                                  \
  }
#else
#define DEFINE_LOG(T, I) \
  INLINE T JOIN(log_, T)(const T x) { return log(x); }
#endif
ON_FLOATS(DEFINE_LOG)
