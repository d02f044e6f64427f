// scaled_erfc_(z) = e^(z^2) erfc(z) for 0 <= z <= 10.2, for CPUs: a polynomial in t = 1 / (1 + 0.35 z), times t (minimax,
// within 2^-27).
#include "common/math/exp.h"

#define DEFINE_SCALED_ERFC(T, I)                            \
  INLINE T JOIN(scaled_erfc_, T)(const T z) {               \
    const T t = 1.0f / FMA(z, (T)(0.35f), (T)(1.0f));       \
    T p = FMA(t, (T)(3.85456234e-2f), (T)(-1.59737691e-1f)); \
    p = FMA(p, t, (T)(1.83429360e-1f));                     \
    p = FMA(p, t, (T)(-3.04290056e-2f));                    \
    p = FMA(p, t, (T)(8.93778354e-2f));                     \
    p = FMA(p, t, (T)(1.44717887e-1f));                     \
    p = FMA(p, t, (T)(1.51667118e-1f));                     \
    p = FMA(p, t, (T)(1.87793627e-1f));                     \
    p = FMA(p, t, (T)(1.97152242e-1f));                     \
    p = FMA(p, t, (T)(1.97483018e-1f));                     \
    return p * t;                                           \
  }
ON_FLOATS(DEFINE_SCALED_ERFC)
