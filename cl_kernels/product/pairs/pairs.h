// Products of whole numbers of one byte minus their zero points, whose sums are i32. The operands are packed as words
// of neighbours along the depth (product/pairs/numbers.h): pairs of i16, or four bytes. x86 processors multiply vectors
// of words and add the products of each word in one instruction. If the depth ends within a word, the rest of it is 0.
//
// A (m, ROW_SIZE) is row-major. B is packed in panels of 16 columns: (panels, PANEL_LINES, 16). In the place of columns
// that B does not have, its last panel repeats the last one.
//
// TDPBSSD says that the processor has a matrix unit, which the system lets the process use (product/pairs/tiles.h).
// Rows and panels then have a multiple of 16 words, and behind them what subtracts the zero points.
//
// PMADDWD says that the compiler has the builtin for the instruction. VPDPWSSD says that the compiler's assembler and
// the device have the instruction of AVX-512 VNNI, which multiplies 16 pairs and adds them to sums. A probe finds both
// out. A tile then has two panels of B, because few sums would wait for each other.
#include "common/element.h"
#include "common/vector.h"
#include "product/pairs/numbers.h"
#include "product/parameters.h"

#ifdef TDPBSSD
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

#ifndef TDPBSSD
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

// The sum of the lanes.
INLINE int sum_16(int16 v) {
  const int8 eight = v.lo + v.hi;
  const int4 four = eight.lo + eight.hi;
  return four.s0 + four.s1 + four.s2 + four.s3;
}

#ifdef TDPBSSD
#include "product/pairs/tiles.h"
#else
// The words of a line with so many words of numbers. The size of a row, and the lines of a panel.
#define LINE_WORDS(count) (count)
#define ROW_SIZE(words) (words)
#define PANEL_LINES(words) (words)
INLINE void store_row_terms(__global int* row, int words, int zero, int sum) {}
INLINE void store_panel_terms(__global int* panel, int words, int16 zero, int16 sums, int depth) {}

// sums[r] = the sums of row r of A with the columns of a tile. Of the rows from `rows` on, the last one is read again,
// and of the panels from `panels` on too. `shape` is for the matrix unit.
INLINE void multiply_tile(pairv sums[TILE_ROWS][2], __global const int* a, int rows, __global const int* panel,
                          int panels, int words, int* shape) {
  __global const int* from[TILE_ROWS];
  __global const int* second = panel + (TILE_PANELS == 1 ? PAIR_LANES : panels == 1 ? 0 : words * 16);
#pragma unroll
  for (int r = 0; r < TILE_ROWS; ++r) {
    from[r] = a + min(r, rows - 1) * (long)words;
    sums[r][0] = sums[r][1] = 0;
  }
  NO_UNROLL
  for (int t = 0; t < words; ++t) {
    const pairv left = *(__global const pairv*)(panel + t * 16), right = *(__global const pairv*)(second + t * 16);
#pragma unroll
    for (int r = 0; r < TILE_ROWS; ++r) {
      const pairv pair = from[r][t];
      sums[r][0] = add_pairs(sums[r][0], pair, left);
      sums[r][1] = add_pairs(sums[r][1], pair, right);
    }
  }
}
INLINE void end_tiles() {}
#endif
