// nextafter_(a, b) is the float next to a in the direction of b, or b if they are equal. The bits of positive floats,
// as integers, grow with the float, and the bits of negative floats fall. So the function counts the bits up or down by
// 1, which works for subnormal numbers on every device.
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
