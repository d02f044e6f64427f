// fmodi_(a, b) = a % b of integers, 0 where b is 0: dividing by 0, and the least number by -1, would trap.
#include "common/math/types.h"

#define DEFINE_FMODI(T, U, bits) \
  INLINE T JOIN(fmodi_, T)(const T a, const T b) { return a % (((b == 0) | (b == -1)) ? (T)(1) : b); }
ON_INTEGERS(DEFINE_FMODI)
