// The common part of logarithms for CPUs: log(1 + m) for -0.25 <= m <= 0.5, by a polynomial (minimax, within 2^-27.6).
#include "common/math/parts/types.h"

#define DEFINE_REDUCED_LOG(T, I)                             \
  INLINE T JOIN(reduced_log_, T)(const T m) {                \
    T p = FMA(m, (T)(-4.61911969e-2f), (T)(1.05911143e-1f)); \
    p = FMA(p, m, (T)(-1.31930217e-1f));                     \
    p = FMA(p, m, (T)(1.44680500e-1f));                      \
    p = FMA(p, m, (T)(-1.66429415e-1f));                     \
    p = FMA(p, m, (T)(1.99909747e-1f));                      \
    p = FMA(p, m, (T)(-2.50002295e-1f));                     \
    p = FMA(p, m, (T)(3.33334506e-1f));                      \
    p = FMA(p, m, (T)(-0.5f));                               \
    return FMA(p, m * m, m);                                 \
  }
ON_FLOATS(DEFINE_REDUCED_LOG)
