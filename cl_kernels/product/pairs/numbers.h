// The numbers of pairs (product/pairs/pairs.h), 16 bits each: bf16 for TDPBF16PS, otherwise i16.
#include "common/vector.h"

#ifdef TDPBF16PS
// bf16 has all whole numbers from -256 to 256, so nothing is rounded.
INLINE uint bf16_of(int number) { return as_uint((float)number) >> 16; }
INLINE uint16 bf16_of_16(int16 numbers) { return as_uint16(convert_float16(numbers)) >> 16; }

INLINE short number_of(int number) { return (short)bf16_of(number); }
INLINE short8 numbers_of_8(short8 numbers) {
  return as_short8(RESIZED(ushort8, as_uint8(convert_float8(numbers)) >> 16));
}
INLINE short16 numbers_of_16(short16 numbers) {
  return as_short16(RESIZED(ushort16, bf16_of_16(RESIZED(int16, numbers))));
}
INLINE int pair_of(int first, int second) { return (int)(bf16_of(first) | bf16_of(second) << 16); }
INLINE int16 pairs_of(int16 first, int16 second) { return as_int16(bf16_of_16(first) | bf16_of_16(second) << 16); }
#else
INLINE short number_of(int number) { return (short)number; }
INLINE short8 numbers_of_8(short8 numbers) { return numbers; }
INLINE short16 numbers_of_16(short16 numbers) { return numbers; }
INLINE int pair_of(int first, int second) { return (first & 0xffff) | second << 16; }
INLINE int16 pairs_of(int16 first, int16 second) { return (first & 0xffff) | second << 16; }
#endif
