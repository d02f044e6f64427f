// A weight in codes of BITS bits (4 or 8). Element (j, k) of the weight is scale * (code - zero). Both belong to the
// block of element k in row j. Without HAS_ZEROS, zero is half of the range of codes.
//
// A row consists of groups of 32 columns. With 8 bits, a group is 32 bytes, one for each column. With 4 bits, it is 16
// bytes: byte i holds the code of column i in its low half, and the code of column 16 + i in its high half. So a vector
// of bytes gives two vectors of neighbouring columns.
//
// Codes become floats without a conversion: with the bits of a code at the end of the mantissa of 2^23, the float is
// 2^23 + code. Four bits higher, the same is true for 2^19. The difference to 2^23 + zero is exact.
#ifndef BITS
#define BITS 4
#endif

#define GROUP_BYTES (4 * BITS)
// The zero point of a block.
#ifdef HAS_ZEROS
#define ZERO_AT(zeros, block) ((float)(zeros)[block])
#else
#define ZERO_AT(zeros, block) ((float)(1 << (BITS - 1)))
#endif
#define AT_END(bits) ((bits) | 0x4B000000u)       // The bits of 2^23 + bits.
#define FOUR_HIGHER(bits) ((bits) | 0x49000000u)  // The bits of 2^19 + bits / 16, for bits that are multiples of 16.
#define FROM_END(zero) (8388608.0f + (zero))
#define FROM_FOUR_HIGHER(zero) (524288.0f + (zero))
