// Products of pairs by the matrix unit of Intel's processors (AMX), which multiplies tiles of bf16 with f32 sums. Only
// product/pairs/pairs.h includes this file.
//
// A tile of A has 16 rows of 16 pairs, a tile of B 16 pairs of 16 columns. Sums of 256 products of numbers from -255 to
// 255 are below 2^24, so f32 has them exactly. They are added as i32.
#include "common/vector.h"

#define TILE_PAIRS 16
#define CHUNK_PAIRS 128  // With exact sums.

// What the unit's tiles hold: 0 to 3 sums, 4 and 5 rows of A, 6 and 7 panels of B.
typedef struct {
  uchar palette, start, unused[14];
  ushort bytes[16];
  uchar lines[16];
} TileShapes;

// Sets the shapes for tiles of `pairs` pairs, of which two have `upper` and `lower` rows of A.
INLINE void set_tiles(int pairs, int upper, int lower) {
  TileShapes shapes;
#pragma unroll
  for (int i = 0; i < 14; ++i) shapes.unused[i] = 0;
  shapes.palette = 1;
  shapes.start = 0;
#pragma unroll
  for (int tile = 0; tile < 16; ++tile) {
    const bool is_a = tile == 4 || tile == 5, is_b = tile == 6 || tile == 7,
               is_lower = tile == 2 || tile == 3 || tile == 5;
    shapes.bytes[tile] = (ushort)(tile >= 8 ? 0 : is_a ? 4 * pairs : 64);
    shapes.lines[tile] = (uchar)(tile >= 8 ? 0 : is_b ? pairs : is_lower ? lower : upper);
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
}

// The f32 sums of two tiles of A with two panels, over `steps` tiles of the depth. Row r has the vectors 2 r and 2 r +
// 1 of `to`, and the lower rows begin at `lower_to`. The rows of A are `row` bytes apart.
INLINE void multiply_steps(float16* to, float16* lower_to, __global const int* upper, __global const int* lower,
                           long row, __global const int* left, __global const int* right, long steps) {
  long line = 64;
  __asm__ volatile(
      "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n"
      "1:\n\t"
      "tileloadd (%[left],%[line],1), %%tmm6\n\t"
      "tileloadd (%[right],%[line],1), %%tmm7\n\t"
      "tileloadd (%[upper],%[row],1), %%tmm4\n\t"
      "tileloadd (%[lower],%[row],1), %%tmm5\n\t"
      "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
      "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
      "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
      "tdpbf16ps %%tmm7, %%tmm5, %%tmm3\n\t"
      "add $64, %[upper]\n\tadd $64, %[lower]\n\tadd $1024, %[left]\n\tadd $1024, %[right]\n\t"
      "dec %[steps]\n\tjnz 1b\n\t"
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

// multiply_tile of product/pairs/pairs.h.
INLINE void multiply_tile(int16 sums[TILE_ROWS][2], __global const int* a, long row, int rows,
                          __global const int* panel, int panels, int pairs) {
  __global const int* second = panels == 1 ? panel : panel + pairs * 16;
  __global const int* lower = a + (rows > 16 ? 16 * row : 0);
  const int upper_rows = min(rows, 16), lower_rows = max(rows - 16, 1);
  float16 products[2 * TILE_ROWS];
  NO_UNROLL
  for (int r = 0; r < rows; ++r) sums[r][0] = sums[r][1] = 0;
  int shape = 0;
  NO_UNROLL
  for (int t = 0; t < pairs;) {
    const int rest = min(pairs - t, CHUNK_PAIRS), tiles = max(rest / TILE_PAIRS, 1), width = min(rest, TILE_PAIRS);
    if (width != shape) set_tiles(width, upper_rows, lower_rows);
    shape = width;
    multiply_steps(products, products + 2 * upper_rows, a + t, lower + t, row * 4, panel + t * 16, second + t * 16,
                   tiles);
    t += tiles * width;
    NO_UNROLL
    for (int r = 0; r < rows; ++r) {
      sums[r][0] += convert_int16(products[2 * r]);
      sums[r][1] += convert_int16(products[2 * r + 1]);
    }
  }
  __asm__ volatile("tilerelease");
}
