// The codes of a group as two vectors of 16 columns, for kernels that compute with long vectors. A device with shorter
// vectors takes several of them.
#include "common/inline.h"
#include "quantized/codes.h"

#if defined(__clang__) && defined(__has_builtin)
#if __has_builtin(__builtin_convertvector)
#define WIDENED(bytes) __builtin_convertvector(bytes, uint16)
#endif
#endif
#ifndef WIDENED
#define WIDENED(bytes) convert_uint16(bytes)
#endif

// A zero point, as the two halves of a group subtract it.
#if BITS == 4
#define ZERO_OF_HIGH(zero) FROM_FOUR_HIGHER(zero)
#else
#define ZERO_OF_HIGH(zero) FROM_END(zero)
#endif

// Columns 0 to 15 and 16 to 31 of the group at `codes`, without the scale.
INLINE void decode_group(float16* low, float16* high, __global const uchar* codes, float zero, float zero_of_high) {
  const uint16 first = WIDENED(*(__global const uchar16*)codes);
#if BITS == 4
  *low = as_float16(AT_END(first & 15u)) - zero;
  *high = as_float16(FOUR_HIGHER(first & 0xF0u)) - zero_of_high;
#else
  const uint16 second = WIDENED(*(__global const uchar16*)(codes + 16));
  *low = as_float16(AT_END(first)) - zero;
  *high = as_float16(AT_END(second)) - zero_of_high;
#endif
}
