// floor_divide_(a, b) is the largest whole number that is not above a / b, Python's a // b. fmod is exact, so the
// quotient is rounded from a number that is whole up to the error of one division. For an infinite a it is NaN, as in
// Python.
#include "common/math/types.h"

#define DEFINE_FLOOR_DIVIDE(T, I)                                                       \
  INLINE T JOIN(floor_divide_, T)(const T a, const T b) {                               \
    const T rest = fmod(a, b), whole = rint((a - rest) / b);                            \
    const T below = ((rest != 0.0f) & ((rest < 0.0f) != (b < 0.0f))) ? whole - 1.0f : whole; \
    const T zero = copysign((T)(0.0f), a / b);                                          \
    return b == 0.0f ? a / b : (below == 0.0f ? zero : below);                          \
  }
ON_FLOATS(DEFINE_FLOOR_DIVIDE)
