// Products of whole numbers from -32767 to 32767, whose sums are i32. Two neighbours along the depth are one pair: an
// int with the first number in its lower half, and the second one in its upper half. If the depth is odd, the last
// pair has a 0. x86 processors multiply eight pairs by eight pairs and add each two products in one instruction.
//
// A (m, pairs) is row-major. B is packed in panels of 16 columns: (panels, pairs, 16). Its last panel has zeros in the
// columns that B does not have.
//
// TDPBF16PS says that the processor has a matrix unit, which the system lets the process use (product/pairs/tiles.h).
// The numbers of pairs are then bf16 and lie between -255 and 255.
//
// PMADDWD says that the compiler has the builtin for the instruction. VPDPWSSD says that the compiler's assembler and
// the device have the instruction of AVX-512 VNNI, which multiplies 16 pairs and adds them to sums. A probe finds both
// out. A tile then has two panels of B, because few sums would wait for each other.
#include "common/element.h"
#include "common/vector.h"
#include "product/pairs/numbers.h"
#include "product/parameters.h"

#ifdef TDPBF16PS
#define TILE_ROWS 32
#define TILE_PANELS 2
#define PAIR_LANES 16
#elif defined(VPDPWSSD)
#define TILE_ROWS 6
#define TILE_PANELS 2
#define PAIR_LANES 16
#else
#define TILE_ROWS 6
#define TILE_PANELS 1
#define PAIR_LANES 8
#endif
#define pairv JOIN(int, PAIR_LANES)

#ifndef TDPBF16PS
// sums + the products of a's and b's pairs.
#if defined(VPDPWSSD) && defined(__AVX512BW__)
INLINE int16 add_pairs(int16 sums, int16 a, int16 b) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
  return sums;
}
#elif defined(PMADDWD)
INLINE int8 add_pairs(int8 sums, int8 a, int8 b) {
  return sums + __builtin_ia32_pmaddwd256(as_short16(a), as_short16(b));
}
#else
INLINE pairv add_pairs(pairv sums, pairv a, pairv b) {
  return sums + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
}
#endif
#endif

// 16 numbers of bytes or shorts at any place. PoCL splits vload16 and vstore16 of whole numbers into elements.
#define UNALIGNED_16(type) OF_TYPE(unaligned_16_, type)
typedef uchar16 unaligned_16_uchar __attribute__((aligned(1)));
typedef char16 unaligned_16_char __attribute__((aligned(1)));
typedef ushort16 unaligned_16_ushort __attribute__((aligned(2)));
typedef short16 unaligned_16_short __attribute__((aligned(2)));
typedef int16 unaligned_16_int __attribute__((aligned(4)));
#define LOAD_16(type, p) (*(__global const UNALIGNED_16(type)*)(p))
#define STORE_16(type, v, p) (*(__global UNALIGNED_16(type)*)(p) = (v))

#ifdef TDPBF16PS
#include "product/pairs/tiles.h"
#else
// sums[r] = the sums of row r of A with the columns of a tile. The rows are `row` pairs apart. Of the rows from `rows`
// on, the last one is read again, and of the panels from `panels` on too.
INLINE void multiply_tile(pairv sums[TILE_ROWS][2], __global const int* a, long row, int rows,
                          __global const int* panel, int panels, int pairs) {
  __global const int* from[TILE_ROWS];
  __global const int* second = panel + (TILE_PANELS == 1 ? PAIR_LANES : panels == 1 ? 0 : pairs * 16);
#pragma unroll
  for (int r = 0; r < TILE_ROWS; ++r) {
    from[r] = a + min(r, rows - 1) * row;
    sums[r][0] = sums[r][1] = 0;
  }
  NO_UNROLL
  for (int t = 0; t < pairs; ++t) {
    const pairv left = *(__global const pairv*)(panel + t * 16), right = *(__global const pairv*)(second + t * 16);
#pragma unroll
    for (int r = 0; r < TILE_ROWS; ++r) {
      const pairv pair = from[r][t];
      sums[r][0] = add_pairs(sums[r][0], pair, left);
      sums[r][1] = add_pairs(sums[r][1], pair, right);
    }
  }
}
#endif
