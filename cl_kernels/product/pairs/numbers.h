// The words that products of whole numbers multiply. A word is an int with WORD_NUMBERS neighbours along the depth, the
// first one in its lowest bits.
//
// A word has two numbers of 16 bits, from which their zero point is subtracted. With TDPBSSD it has four bytes with a
// sign. A number minus its zero point does not fit in a byte. So u8 minus 128 or i8 as it is becomes a byte, and the
// product of the zero points is subtracted from the sums (product/pairs/tiles.h).
#include "common/element.h"
#include "common/vector.h"

#ifdef TDPBSSD
#define WORD_NUMBERS 4
#define NUMBER char
#else
#define WORD_NUMBERS 2
#define NUMBER short
#endif
#define NUMBER_BITS (32 / WORD_NUMBERS)
#define NUMBER_MASK ((1 << NUMBER_BITS) - 1)

// What is subtracted from numbers of a type with a zero point, before they become parts of words.
#ifdef TDPBSSD
#define BASE_OF(type, zero) ((type)-1 > (type)0 ? 128 : 0)
#else
#define BASE_OF(type, zero) (zero)
#endif

// 16 numbers of bytes or shorts at any place. PoCL splits vload16 and vstore16 of whole numbers into elements.
#define UNALIGNED_16(type) OF_TYPE(unaligned_16_, type)
typedef uchar16 unaligned_16_uchar __attribute__((aligned(1)));
typedef char16 unaligned_16_char __attribute__((aligned(1)));
typedef ushort16 unaligned_16_ushort __attribute__((aligned(1)));
typedef short16 unaligned_16_short __attribute__((aligned(1)));
typedef int16 unaligned_16_int __attribute__((aligned(4)));
#define LOAD_16(type, p) (*(__global const UNALIGNED_16(type)*)(p))
#define STORE_16(type, v, p) (*(__global UNALIGNED_16(type)*)(p) = (v))
