// The common part of exponentials for CPUs. The library functions of CPU implementations are slower. x = n log 2 + r,
// where n is whole and |r| <= log(2) / 2. The function gives n, and e^r - 1 by a polynomial (minimax, within 2^-28 of
// e^r). x must be between -2^21 and 2^21.
#include "common/math/parts/types.h"

#define DEFINE_REDUCED_EXP(T, I)                                   \
  INLINE T JOIN(reduced_exp_, T)(const T x, I* n) {                \
    /* The magic number leaves n in the lowest bits of the sum. */ \
    const T shifted = FMA(x, (T)(1.44269504f), (T)(12582912.0f));  \
    const T whole = shifted - 12582912.0f;                         \
    T r = FMA(whole, (T)(-0.693359375f), x);                       \
    r = FMA(whole, (T)(2.12194440e-4f), r);                        \
    *n = JOIN(as_, I)(shifted) - 0x4b400000;                       \
    T p = FMA(r, (T)(1.97902540e-4f), (T)(1.39447581e-3f));        \
    p = FMA(p, r, (T)(8.33349768e-3f));                            \
    p = FMA(p, r, (T)(4.16662954e-2f));                            \
    p = FMA(p, r, (T)(1.66666657e-1f));                            \
    p = FMA(p, r, (T)(0.5f));                                      \
    return FMA(p, r * r, r);                                       \
  }
ON_FLOATS(DEFINE_REDUCED_EXP)
