// scaled_erfc_(a, k, factor) = factor e^(z^2) erfc(z) with z = k a from 0 to 10.2, for CPUs. It is t times a polynomial
// in t = 1 / (1 + 0.4 z) (minimax, within 2^-23.9).
#include "common/math/parts/types.h"

#define DEFINE_SCALED_ERFC(T, I)                                                         \
  INLINE T JOIN(scaled_erfc_, T)(const T a, const float k, const float factor) {         \
    const T t = 1.0f / FMA(a, (T)(0.4f * k), (T)(1.0f));                                 \
    T p = FMA(t, (T)(factor * 4.14711498e-2f), (T)(factor * -1.41387969e-1f));           \
    p = FMA(p, t, (T)(factor * 8.62136036e-2f));                                         \
    p = FMA(p, t, (T)(factor * 8.53959396e-2f));                                         \
    p = FMA(p, t, (T)(factor * 8.15462470e-2f));                                         \
    p = FMA(p, t, (T)(factor * 1.92624018e-1f));                                         \
    p = FMA(p, t, (T)(factor * 2.02086136e-1f));                                         \
    p = FMA(p, t, (T)(factor * 2.26415038e-1f));                                         \
    p = FMA(p, t, (T)(factor * 2.25635886e-1f));                                         \
    return p * t;                                                                        \
  }
ON_FLOATS(DEFINE_SCALED_ERFC)
