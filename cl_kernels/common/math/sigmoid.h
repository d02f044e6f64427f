// sigmoid_(x) = 1 / (1 + e^-x). It is computed from e^-|x|, so that nothing overflows and small values keep their
// precision.
#include "common/math/decay.h"

#define DEFINE_SIGMOID(T, I)                        \
  INLINE T JOIN(sigmoid_, T)(const T x) {           \
    const T e = JOIN(decay_, T)(fabs(x));           \
    return (x < 0.0f ? e : (T)(1.0f)) / (1.0f + e); \
  }
ON_FLOATS(DEFINE_SIGMOID)
