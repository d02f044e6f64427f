// Rounding of floats to whole numbers of one byte.
#include "common/inline.h"

// The whole number nearest to x, plus zero, in the range from `least` to least + 255. For halves the nearest is the
// even number. The sum with 1.5 * 2^23 rounds x, and its last bits are the number. rint() takes ten instructions on
// PoCL.
#define DEFINE_BYTE_OF(name, width)                                            \
  INLINE int##width name(float##width x, float zero, float least) {            \
    const float##width inside = clamp(x, least - zero, least + 255.0f - zero); \
    return as_int##width(inside + 12582912.0f) - 0x4b400000 + (int)zero;       \
  }
DEFINE_BYTE_OF(byte_of, 8)
DEFINE_BYTE_OF(byte_of16, 16)
