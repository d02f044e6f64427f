// A matrix as an operand of engines/multiply.h: `side` of its rows (columns, for B), one slice of the depth at a time.
//
// One axis of the matrix has stride 1: the depth (`along_k`) or the side. The lines of the other axis are `step`
// elements apart. An item reads the chunks that engines/engine.h describes. `vec` is 4 if the start, the steps and the
// size of the axis with stride 1 are multiples of 4, else 1. `storage` is a number of product/storage.h. All calls of
// these functions pass constants for `side`, `along_k`, `vec` and `storage`.
#include "product/engines/engine.h"
#include "product/storage.h"

typedef struct {
  __global const char* at;  // The start of the group's slice. It is one address for all items.
  uint to[64];              // Bytes from there to the item's elements, `vec` at a time.
  long step;                // Bytes from element to element of the depth.
} MatrixReader;

#define CHUNK_SIZE(vec) (CHUNK_LINES * CHUNK_RUN(vec))

// `from` is the first element of the operand. Starts at line `first` of `count`. Lines past `count` are read as the last
// line, because their results are never stored. If the depth is less than a slice, nothing is read after its end.
INLINE MatrixReader matrix_begin(__global const char* from, long step, long first, long count, int depth, int side,
                                 int along_k, int vec, int storage) {
  MatrixReader r;
  r.at = from + first * (along_k ? step : 1) * STORED_BYTES(storage);
  r.step = (along_k ? 1 : step) * STORED_BYTES(storage);
  const long last = count - first - 1;
  UNROLL
  for (int p = 0; p < CHUNKS(side, vec); ++p) {
    const int along = chunk_along(p, side, along_k, vec), line = chunk_line(p, side, along_k, vec);
    UNROLL
    for (int l = 0; l < CHUNK_LINES; ++l)
      UNROLL
      for (int e = 0; e < CHUNK_RUN(vec) / vec; ++e) {
        const long offset = along_k ? min((long)(line + l), last) * step + min(along + e, depth - vec)
                                    : min((long)(along + e), last + 1 - vec) + min(line + l, depth - 1) * step;
        r.to[(p * CHUNK_LINES + l) * (CHUNK_RUN(vec) / vec) + e] = (uint)offset * STORED_BYTES(storage);
      }
  }
  return r;
}

// Reads a whole slice of the depth, even where the slice reaches beyond the end.
INLINE void matrix_load(const MatrixReader* r, float* values, int side, int vec, int storage) {
  UNROLL
  for (int p = 0; p < CHUNKS(side, vec) * CHUNK_SIZE(vec) / vec; ++p) {
    if (!has_chunk(p / (CHUNK_SIZE(vec) / vec), side)) continue;
    __global const char* from = r->at + r->to[p];
    if (vec == 4)
      vstore4(stored_values(from, storage), p, values);
    else
      values[p] = stored_value(from, storage);
  }
}

// Fills the slice that was read with zeros from `depth` on. With vectors along the depth, `depth` is a multiple of 4.
INLINE void matrix_end(float* values, int depth, int side, int along_k, int vec) {
  UNROLL
  for (int p = 0; p < CHUNKS(side, vec); ++p) {
    const int first = along_k ? chunk_along(p, side, along_k, vec) : chunk_line(p, side, along_k, vec);
    UNROLL
    for (int i = 0; i < CHUNK_SIZE(vec); ++i)
      if (first + (along_k ? i % CHUNK_RUN(vec) / vec * vec : i / CHUNK_RUN(vec)) >= depth)
        values[p * CHUNK_SIZE(vec) + i] = 0.0f;
  }
}

INLINE void matrix_move(MatrixReader* r, int depth) { r->at += depth * r->step; }

// Writes the values that were read to local memory.
INLINE void matrix_keep(const float* values, __local StageWord* to, int side, int along_k, int vec) {
  UNROLL
  for (int p = 0; p < CHUNKS(side, vec); ++p) stage_chunk(to, side, p, values + p * CHUNK_SIZE(vec), along_k, vec);
}
