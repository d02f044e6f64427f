// nextafter_(a, b) is the float next to a in the direction of b, or b if they are equal. It counts in the order of
// the floats, which is the order of their bits from 0 on, and the opposite order below 0. So subnormal numbers count on
// every device.
#include "common/math/parts/types.h"

#define FLOAT_ORDER(bits) ((bits) < 0 ? (int)(0x80000000) - (bits) : (bits))

#define DEFINE_NEXTAFTER(T, I)                                                                   \
  INLINE T JOIN(nextafter_, T)(const T a, const T b) {                                           \
    const I from = FLOAT_ORDER(JOIN(as_, I)(a)), to = FLOAT_ORDER(JOIN(as_, I)(b));              \
    const I next = to > from ? from + 1 : from - 1;                                              \
    const I negative = (next < 0) | ((next == 0) & (JOIN(as_, I)(a) < 0));                       \
    const I bits = negative ? (int)(0x80000000) - next : next;                                   \
    const T y = to == from ? b : JOIN(as_, T)(bits);                                             \
    return ((a != a) | (b != b)) ? (T)(NAN) : y;                                                 \
  }
ON_FLOATS(DEFINE_NEXTAFTER)
