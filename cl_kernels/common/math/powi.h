// powi_(a, b) = a^b for integers; overflow wraps around. A negative b gives 0, unless a is 1 or -1.
#include "common/math/parts/types.h"

#define DEFINE_POWI(T, U, last)                                                                 \
  INLINE T JOIN(powi_, T)(const T a, const T b) {                                               \
    U base = JOIN(as_, U)(a), result = (U)(1);                                                  \
    T rest = b < 0 ? (T)(0) : b;                                                                \
    for (int i = 0; i <= last; ++i) {                                                           \
      result = (rest & 1) != 0 ? result * base : result;                                        \
      base *= base;                                                                             \
      rest >>= 1;                                                                               \
    }                                                                                           \
    const T inverse = a == 1 ? (T)(1) : (a == -1 ? ((b & 1) != 0 ? (T)(-1) : (T)(1)) : (T)(0)); \
    return b < 0 ? inverse : JOIN(as_, T)(result);                                              \
  }
ON_INTEGERS(DEFINE_POWI)
