// signbit_(x) is a condition: the sign of x is negative. The bits tell, because a device may count subnormal numbers as
// 0.
#include "common/math/parts/types.h"

#define DEFINE_SIGNBIT(T, I) \
  INLINE I JOIN(signbit_, T)(const T x) { return JOIN(as_, I)(x) < 0; }
ON_FLOATS(DEFINE_SIGNBIT)
