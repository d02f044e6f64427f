// Products of words of four bytes by the matrix unit of Intel's processors (AMX). Only product/pairs/pairs.h includes
// this file.
//
// A tile of A has 16 rows of 16 words, a tile of B 16 words of 16 columns. The sums of a - z and b - w, with zero
// points z of a row and w of a column, are those of a b, minus z times (the sum of b - w), minus w times (the sum of
// a). So a row has a line behind its words with z and the sum of a, and a panel has a line of w and a line of sums of b
// - w.
#include "common/vector.h"

#define LINE_WORDS(count) (((count) + 15) / 16 * 16)
#define ROW_SIZE(words) ((words) + 16)
#define PANEL_LINES(words) ((words) + 2)

INLINE void store_row_terms(__global int* row, int words, int zero, int sum) {
  STORE_16(int, (int16)(zero, sum, (int2)(0), (int4)(0), (int8)(0)), row + words);
}

INLINE void store_panel_terms(__global int* panel, int words, int16 zero, int16 sums, int depth) {
  STORE_16(int, zero, panel + words * 16);
  STORE_16(int, sums - zero * depth, panel + words * 16 + 16);
}

// What the unit's tiles hold: 0 to 3 sums, 4 and 5 rows of A, 6 and 7 panels of B.
typedef struct {
  uchar palette, start, unused[14];
  ushort bytes[16];
  uchar lines[16];
} TileShapes;

// Sets the shapes, of which two tiles have `upper` and `lower` rows of A.
INLINE void set_tiles(int upper, int lower) {
  TileShapes shapes;
#pragma unroll
  for (int i = 0; i < 14; ++i) shapes.unused[i] = 0;
  shapes.palette = 1;
  shapes.start = 0;
#pragma unroll
  for (int tile = 0; tile < 16; ++tile) {
    const bool is_b = tile == 6 || tile == 7, is_lower = tile == 2 || tile == 3 || tile == 5;
    shapes.bytes[tile] = (ushort)(tile >= 8 ? 0 : 64);
    shapes.lines[tile] = (uchar)(tile >= 8 ? 0 : is_b ? 16 : is_lower ? lower : upper);
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
}

// After the last tile of a kernel.
INLINE void end_tiles() { __asm__ volatile("tilerelease"); }

// The sums of two tiles of A with two panels, over `steps` tiles of the depth. Row r has the vectors 2 r and 2 r + 1 of
// `to`, and the lower rows begin at `lower_to`. The rows of A are `row` bytes apart.
INLINE void multiply_steps(int16* to, int16* lower_to, __global const int* upper, __global const int* lower, long row,
                           __global const int* left, __global const int* right, long steps) {
  long line = 64;
  __asm__ volatile(
      "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"
      "test %[steps], %[steps]\n\tjz 2f\n"
      "1:\n\t"
      "tileloadd (%[left],%[line],1), %%tmm6\n\t"
      "tileloadd (%[right],%[line],1), %%tmm7\n\t"
      "tileloadd (%[upper],%[row],1), %%tmm4\n\t"
      "tileloadd (%[lower],%[row],1), %%tmm5\n\t"
      "tdpbssd %%tmm6, %%tmm4, %%tmm0\n\t"
      "tdpbssd %%tmm7, %%tmm4, %%tmm1\n\t"
      "tdpbssd %%tmm6, %%tmm5, %%tmm2\n\t"
      "tdpbssd %%tmm7, %%tmm5, %%tmm3\n\t"
      "add $64, %[upper]\n\tadd $64, %[lower]\n\tadd $1024, %[left]\n\tadd $1024, %[right]\n\t"
      "dec %[steps]\n\tjnz 1b\n"
      "2:\n\t"
      "add %[line], %[line]\n\t"
      "tilestored %%tmm0, (%[to],%[line],1)\n\t"
      "tilestored %%tmm1, 64(%[to],%[line],1)\n\t"
      "tilestored %%tmm2, (%[lower_to],%[line],1)\n\t"
      "tilestored %%tmm3, 64(%[lower_to],%[line],1)"
      : [upper] "+&r"(upper), [lower] "+&r"(lower), [left] "+&r"(left), [right] "+&r"(right), [steps] "+&r"(steps),
        [line] "+&r"(line)
      : [row] "r"(row), [to] "r"(to), [lower_to] "r"(lower_to)
      : "memory", "cc");
}

// Subtracts what the zero points add to the sums of a tile with two panels. Columns often share one zero point, and
// rows too. Sums may pass the ends of i32 in between.
INLINE void subtract_zeros(int16 sums[TILE_ROWS][2], __global const int* a, int rows, __global const int* left,
                           __global const int* right, int words) {
  const uint16 left_zero = as_uint16(LOAD_16(int, left + words * 16)),
               right_zero = as_uint16(LOAD_16(int, right + words * 16)),
               left_sum = as_uint16(LOAD_16(int, left + words * 16 + 16)),
               right_sum = as_uint16(LOAD_16(int, right + words * 16 + 16));
  const uint column_zero = left_zero.s0;
  const bool share_zero = !any(left_zero != column_zero) && !any(right_zero != column_zero);
  uint row_zero = 0;
  uint16 left_part = 0, right_part = 0;
  NO_UNROLL
  for (int r = 0; r < rows; ++r) {
    __global const int* terms = a + r * (long)ROW_SIZE(words) + words;
    const uint zero = (uint)terms[0], sum = (uint)terms[1];
    if (zero != row_zero) {
      row_zero = zero;
      left_part = left_sum * zero;
      right_part = right_sum * zero;
    }
    uint16 left_rest = sum * column_zero, right_rest = left_rest;
    if (!share_zero) {
      left_rest = left_zero * sum;
      right_rest = right_zero * sum;
    }
    sums[r][0] = as_int16(as_uint16(sums[r][0]) - left_part - left_rest);
    sums[r][1] = as_int16(as_uint16(sums[r][1]) - right_part - right_rest);
  }
}

// multiply_tile of product/pairs/pairs.h. `shape` is the number of rows for which the tiles are set, at first 0.
INLINE void multiply_tile(int16 sums[TILE_ROWS][2], __global const int* a, int rows, __global const int* panel,
                          int panels, int words, int* shape) {
  __global const int* second = panels == 1 ? panel : panel + PANEL_LINES(words) * 16;
  const long row = ROW_SIZE(words);
  const int upper_rows = min(rows, 16), lower_rows = max(rows - 16, 1);
  if (rows != *shape) set_tiles(upper_rows, lower_rows);
  *shape = rows;
  multiply_steps(sums[0], sums[upper_rows], a, a + (rows > 16 ? 16 * row : 0), row * 4, panel, second, words / 16);
  subtract_zeros(sums, a, rows, panel, second, words);
}
