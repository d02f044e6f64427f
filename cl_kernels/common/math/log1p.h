// log1p_(x) = log(1 + x). On CPUs the error is at most 2 ulp: 1 + x = (1 + m) 2^e. m is computed from x itself, because
// the sum 1 + x would be rounded.
#include "common/math/parts/reduced_log.h"

#ifdef CPU
#define DEFINE_LOG1P(T, I)                                                                              \
  INLINE T JOIN(log1p_, T)(const T x) {                                                                 \
    const I e = (JOIN(as_, I)(1.0f + x) - 0x3f400000) & (I)(0xff800000);                                \
    const T scale = JOIN(as_, T)(0x40800000 - e); /* 4 * 2^-e */                                        \
    const T m = JOIN(as_, T)(JOIN(as_, I)(x) - e) + FMA((T)(0.25f), scale, (T)(-1.0f));                 \
    const T y = FMA(JOIN(convert_, T)(e) * 1.1920929e-7f, (T)(0.693147182f), JOIN(reduced_log_, T)(m)); \
    const T special = x == -1.0f ? (T)(-INFINITY) : (x < -1.0f ? (T)(NAN) : x);                         \
    return ((fabs(x) > 1e-8f) & (x > -1.0f) & (x < INFINITY)) ? y : special;                            \
  }
#else
#define DEFINE_LOG1P(T, I) \
  INLINE T JOIN(log1p_, T)(const T x) { return log1p(x); }
#endif
ON_FLOATS(DEFINE_LOG1P)
