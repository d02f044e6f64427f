// floor_divide_(a, b) is the largest whole number that is not above a / b, Python's a // b. fmod is exact, so
// (a - fmod(a, b)) / b is a whole number except for the rounding of one division. rint removes this rounding. If an
// operand is infinite, the result is floor(a / b), as the array API standard asks. Python gives NaN for an infinite a,
// and -1 for 2 // -inf.
#include "common/math/parts/types.h"

#define DEFINE_FLOOR_DIVIDE(T, I)                                                       \
  INLINE T JOIN(floor_divide_, T)(const T a, const T b) {                               \
    const T rest = fmod(a, b), whole = rint((a - rest) / b);                            \
    const T below = ((rest != 0.0f) & ((rest < 0.0f) != (b < 0.0f))) ? whole - 1.0f : whole; \
    const T zero = copysign((T)(0.0f), a / b);                                          \
    const T limit = floor(a / b);                                                       \
    const I is_limit = (b == 0.0f) | (fabs(a) == INFINITY) | (fabs(b) == INFINITY);     \
    return is_limit ? limit : (below == 0.0f ? zero : below);                           \
  }
ON_FLOATS(DEFINE_FLOOR_DIVIDE)
