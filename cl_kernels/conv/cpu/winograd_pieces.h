// The pieces of an image that Winograd's tiles of 4 x 4 outputs read, sorted by their elements, for CPUs.
//
// Tiles are counted through all images, row by row. A piece of a tile is 6 x 6 pixels, and neighbouring pieces overlap.
#include "product/cpu/gemm_tile.h"
#include "common/element.h"

// Distance in floats between the arrays of a channel's sorted pieces. Stores may run over an array's end by a vector.
#define PIECE (NR + VW)

// The tiles first … first + count - 1 of images that have rows x columns tiles.
typedef struct {
  long first;
  int count, rows, columns;
} Tiles;

// A plane of images that are image_step floats apart, with zeros around it.
typedef struct {
  long image_step;
  int height, width, pad_h, pad_w;
} Plane;

// Neighbouring tiles in one row of tiles of an image. `at` is the number of the first tile within the unit.
typedef struct {
  int at, count;
  int image, row, column;  // of tiles
} Run;

INLINE void find_run(Run* run, const Tiles* tiles, int at) {
  const long tile = tiles->first + at;
  run->at = at;
  run->image = (int)(tile / tiles->columns / tiles->rows);
  run->row = (int)(tile / tiles->columns % tiles->rows);
  run->column = (int)(tile % tiles->columns);
  run->count = min(tiles->count - at, tiles->columns - run->column);
}

// Splits 4 * VW elements of `line` into four vectors: columns[0] gets the elements 0, 4, 8, …, columns[1] the elements
// 1, 5, 9, …, and so on.
INLINE void every_fourth(__global const float* line, floatv columns[4]) {
  const floatv a = UNALIGNED_CONST(line), b = UNALIGNED_CONST(line + VW);
  const floatv c = UNALIGNED_CONST(line + 2 * VW), d = UNALIGNED_CONST(line + 3 * VW);
  const floatv even0 = (floatv)(a.even, b.even), even1 = (floatv)(c.even, d.even);
  const floatv odd0 = (floatv)(a.odd, b.odd), odd1 = (floatv)(c.odd, d.odd);
  columns[0] = (floatv)(even0.even, even1.even);
  columns[1] = (floatv)(odd0.even, odd1.even);
  columns[2] = (floatv)(even0.odd, even1.odd);
  columns[3] = (floatv)(odd0.odd, odd1.odd);
}

// Sorts the pieces of one channel of x, which is of STORED. Element (i, j) of all pieces goes to pieces[(i * 6 + j) *
// PIECE].
INLINE void sort_channel(__global float* pieces, __global float* line, __global const STORED* x, const Plane* plane,
                         const Tiles* tiles) {
  const int width = plane->width;
  Run run;
  NO_UNROLL
  for (int at = 0; at < tiles->count; at += run.count) {
    find_run(&run, tiles, at);
    NO_UNROLL
    for (int i = 0; i < 6; ++i) {
      const int h = 4 * run.row + i - plane->pad_h;
      __global float* to = pieces + i * 6 * PIECE + run.at;
      if (h < 0 || h >= plane->height) {
        NO_UNROLL
        for (int t = 0; t < run.count; t += VW)
          for (int j = 0; j < 6; ++j) UNALIGNED(to + j * PIECE + t) = (floatv)(0.0f);
        continue;
      }
      __global const STORED* row = x + run.image * plane->image_step + (long)h * width;
      if (width >= VW) {
        NO_UNROLL
        for (int w = 0; w < width; w += VW) {
          const int from = min(w, width - VW);
          UNALIGNED(line + plane->pad_w + from) = LOAD_MANY(STORED, row + from);
        }
      } else {
        NO_UNROLL
        for (int w = 0; w < width; ++w) line[plane->pad_w + w] = LOAD(STORED, row, w);
      }
      NO_UNROLL
      for (int t = 0; t < run.count; t += VW) {
        floatv columns[4], next[4];
        every_fourth(line + 4 * (run.column + t), columns);
        every_fourth(line + 4 * (run.column + t + 1), next);
#pragma unroll
        for (int j = 0; j < 4; ++j) UNALIGNED(to + j * PIECE + t) = columns[j];
        UNALIGNED(to + 4 * PIECE + t) = next[0];
        UNALIGNED(to + 5 * PIECE + t) = next[1];
      }
    }
  }
}
