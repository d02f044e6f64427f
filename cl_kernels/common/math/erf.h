// erf_(x). On CPUs the error is at most 2 ulp. For |x| < 1 the result is x + x p(x^2) (minimax, within 2^-29). For
// other x it is 1 - erfc(|x|), with the sign of x.
#include "common/math/parts/gauss.h"
#include "common/math/parts/scaled_erfc.h"

#ifdef CPU
#define DEFINE_ERF(T, I)                                                                            \
  INLINE T JOIN(erf_, T)(const T x) {                                                               \
    const T a = fabs(x) > 5.0f ? (T)(5.0f) : fabs(x), square = a * a;                               \
    T p = FMA(square, (T)(7.85387747e-5f), (T)(-8.01019836e-4f));                                   \
    p = FMA(p, square, (T)(5.18832821e-3f));                                                        \
    p = FMA(p, square, (T)(-2.68538129e-2f));                                                       \
    p = FMA(p, square, (T)(1.12835854e-1f));                                                        \
    p = FMA(p, square, (T)(-3.76126260e-1f));                                                       \
    p = FMA(p, square, (T)(1.28379166e-1f));                                                        \
    const T tail = JOIN(gauss_, T)(a, 1.0f) * JOIN(scaled_erfc_, T)(a, 1.0f, POWER_SCALE);          \
    return a < 1.0f ? FMA(p, x, x) : copysign(1.0f - tail, x);                                      \
  }
#else
#define DEFINE_ERF(T, I) \
  INLINE T JOIN(erf_, T)(const T x) { return erf(x); }
#endif
ON_FLOATS(DEFINE_ERF)
