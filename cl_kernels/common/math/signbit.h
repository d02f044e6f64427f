// signbit_(x) is true if the sign bit of x is set. It reads the bits, because a device may take subnormal numbers as
// 0.
#include "common/math/parts/types.h"

#define DEFINE_SIGNBIT(T, I) \
  INLINE I JOIN(signbit_, T)(const T x) { return JOIN(as_, I)(x) < 0; }
ON_FLOATS(DEFINE_SIGNBIT)
