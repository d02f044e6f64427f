// fmodi_(a, b) = a % b for integers, and 0 where b is 0. Without the check, dividing by 0 would trap, and so would
// dividing the smallest number by -1.
#include "common/math/parts/types.h"

#define DEFINE_FMODI(T, U, last)                                \
  INLINE T JOIN(fmodi_, T)(const T a, const T b) {              \
    return a % (((b == 0) | ((b < 0) & (b == -1))) ? (T)(1) : b); \
  }
ON_INTEGERS(DEFINE_FMODI)
