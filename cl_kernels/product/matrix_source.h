// An fp32 matrix as an operand of gemm_matrix.cl: `side` of its rows (columns, for B), one slice of the depth at a
// time. It is rounded on its way to local memory.
//
// One axis of the matrix has stride 1: the depth (`along_k`) or the side. The lines of the other axis are `step`
// elements apart. An item reads squares of 4 x 4 elements, four lines of four elements, and writes them as rows along
// the depth. Squares whose lines go across the depth are transposed in registers. Eight neighbouring items (tf32: four)
// take squares that follow each other along the depth. So they read whole lines of 128 bytes in both cases, and they
// write whole rows.
//
// `vec` is 4 if the start, the steps and the size of the axis with stride 1 are multiples of 4, else 1. All calls of
// these functions pass constants for `side`, `along_k` and `vec`.
#include "common/inline.h"
#include "product/units/matrix_place.h"
#include "product/units/matrix_round.h"
#include "product/matrix_tile.h"

#define SQUARES_DEEP (SLICE / 4)
#define SQUARES(side) ((side) / 4 * SQUARES_DEEP)
#define PARTS_OF(side) ((SQUARES(side) + ITEMS - 1) / ITEMS)

typedef struct {
  __global const char* at;  // The start of the group's slice. It is one address for all items.
  uint to[64];              // Bytes from there to the item's elements, or to its groups of four elements.
  long step;                // Bytes from element to element of the depth.
} MatrixSource;

// The first depth and the first side of an item's square.
INLINE int square_depth(int part) { return (tile_item() + part * ITEMS) % SQUARES_DEEP * 4; }
INLINE int square_side(int part) { return (tile_item() + part * ITEMS) / SQUARES_DEEP * 4; }
// If there are fewer squares than items, the last items have none.
INLINE int has_square(int part, int side) { return SQUARES(side) % ITEMS == 0 || tile_item() + part * ITEMS < SQUARES(side); }

// Rows past `count` are read as the last row, because their results are never stored. If the depth is less than a
// slice, nothing is read after its end.
INLINE MatrixSource source_begin(__global const float* from, long step, long first, long count, int depth, int side,
                                 int along_k, int vec) {
  MatrixSource s;
  s.at = (__global const char*)(from + first * (along_k ? step : 1));
  s.step = along_k ? 4 : step * 4;
  const long last = count - first - 1;
  UNROLL
  for (int p = 0; p < PARTS_OF(side); ++p) {
    const int k = square_depth(p), i = min(square_side(p), side - 4);
    UNROLL
    for (int line = 0; line < 4; ++line)
      UNROLL
      for (int e = 0; e < 4 / vec; ++e) {
        const int end = vec - 1;
        const long offset = along_k ? min((long)(i + line), last) * step + min(k + e, depth - 1 - end)
                                    : min((long)(i + e), last - end) + min(k + line, depth - 1) * step;
        s.to[(p * 4 + line) * (4 / vec) + e] = (uint)offset * 4;
      }
  }
  return s;
}

// Reads a whole slice of the depth, even where the slice reaches beyond the end.
INLINE void source_load(const MatrixSource* s, float* values, int side, int vec) {
  UNROLL
  for (int p = 0; p < PARTS_OF(side) * 16 / vec; ++p) {
    if (!has_square(p / (16 / vec), side)) continue;
    __global const char* from = s->at + s->to[p];
    if (vec == 4)
      vstore4(*(__global const float4*)from, p, values);
    else
      values[p] = *(__global const float*)from;
  }
}

// Fills the slice that was read with zeros from `depth` on.
INLINE void source_end(float* values, int depth, int side, int along_k) {
  UNROLL
  for (int p = 0; p < PARTS_OF(side); ++p)
    UNROLL
    for (int i = 0; i < 16; ++i)
      if (square_depth(p) + (along_k ? i % 4 : i / 4) >= depth) values[p * 16 + i] = 0.0f;
}

// Rounds the values that were read and writes them to local memory.
INLINE void source_keep(const float* values, __local uint* to, int side, int along_k) {
  UNROLL
  for (int p = 0; p < PARTS_OF(side); ++p) {
    if (!has_square(p, side)) continue;
    UNROLL
    for (int row = 0; row < 4; ++row) {
      const float* from = values + p * 16 + (along_k ? row * 4 : row);
      const int step = along_k ? 1 : 4;
      __local uint* place = to + place_of_word(square_side(p) + row, square_depth(p) / PER_WORD);
#if PER_WORD == 2
      *(__local uint2*)place = (uint2)(round_two(from[0], from[step]), round_two(from[2 * step], from[3 * step]));
#else
      *(__local uint4*)place =
          (uint4)(round_one(from[0]), round_one(from[step]), round_one(from[2 * step]), round_one(from[3 * step]));
#endif
    }
  }
}
