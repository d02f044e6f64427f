// Products of whole numbers from -32767 to 32767, whose sums are i32. Two neighbours along the depth are one pair: an
// int with the first number in its lower half, and the second one in its upper half. If the depth is odd, the last
// pair has a 0. x86 processors multiply eight pairs by eight pairs and add each two products in one instruction.
//
// A (m, pairs) is row-major. B is packed in panels of 16 columns: (panels, pairs, 16). Its last panel has zeros in the
// columns that B does not have.
//
// PMADDWD says that the compiler has the builtin for the instruction. A probe finds it out.
#include "common/vector.h"
#include "product/parameters.h"

#define TILE_ROWS 6

#ifdef PMADDWD
INLINE int8 multiply_pairs(int8 a, int8 b) { return __builtin_ia32_pmaddwd256(as_short16(a), as_short16(b)); }
#else
INLINE int8 multiply_pairs(int8 a, int8 b) { return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16); }
#endif

// The pairs of two vectors of numbers.
INLINE int16 pairs_of(int16 first, int16 second) { return (first & 0xffff) | second << 16; }

// sums[r] = the sums of row r of A with 16 columns. The rows are `row` pairs apart. Of the rows from `rows` on, the
// last one is read again.
INLINE void multiply_tile(int8 sums[TILE_ROWS][2], __global const int* a, long row, int rows,
                          __global const int8* panel, int pairs) {
  __global const int* from[TILE_ROWS];
#pragma unroll
  for (int r = 0; r < TILE_ROWS; ++r) {
    from[r] = a + min(r, rows - 1) * row;
    sums[r][0] = sums[r][1] = 0;
  }
  NO_UNROLL
  for (int t = 0; t < pairs; ++t) {
    const int8 left = panel[2 * t], right = panel[2 * t + 1];
#pragma unroll
    for (int r = 0; r < TILE_ROWS; ++r) {
      const int8 pair = from[r][t];
      sums[r][0] += multiply_pairs(pair, left);
      sums[r][1] += multiply_pairs(pair, right);
    }
  }
}
