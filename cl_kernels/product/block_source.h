// A matrix as an operand of product/block_multiply.h: `side` of its rows (columns, for B), BK of the depth at a time.
//
// One axis of the matrix has stride 1: the depth (`along_k`) or the side. The lines of the other axis are `step`
// elements apart. An item reads side * BK / ITEMS elements of each slice of the depth, `vec` at a time. `vec` is 1 or
// 4. For 4, the start, the steps and the size of the axis with stride 1 are multiples of 4. All calls of these
// functions pass constants for `side`, `along_k`, `vec` and `pitch`.
#include "product/block.h"

typedef struct {
  __global const char* at;  // The start of the group's slice. It is one address for all items.
  uint to[32];              // Bytes from there to the item's pieces.
  long step;                // Bytes from element to element of the depth.
} MatrixSource;

// Piece `part` of an item: its place on its line, and the number of the line. Neighbouring items take neighbouring
// pieces.
INLINE int piece_of(int part, int side, int along_k, int vec) {
  const int pieces = (along_k ? BK : side) / vec;
  return (block_item() + part * ITEMS) % pieces * vec;
}
INLINE int line_of(int part, int side, int along_k, int vec) {
  const int pieces = (along_k ? BK : side) / vec;
  return (block_item() + part * ITEMS) / pieces;
}

// Rows past `count` are read as the last row, because their results are never stored. If the depth is less than a
// slice, nothing is read after its end.
INLINE long offset_of(int part, long step, long count, int depth, int side, int along_k, int vec) {
  const int piece = piece_of(part, side, along_k, vec), line = line_of(part, side, along_k, vec);
  if (along_k) return min((long)line, count - 1) * step + min(piece, depth - vec);
  return min((long)piece, count - vec) + min(line, depth - 1) * step;
}

// Starts at row `first` of `count` rows.
INLINE MatrixSource source_begin(__global const float* from, long step, long first, long count, int depth, int side,
                                 int along_k, int vec) {
  MatrixSource s;
  s.at = (__global const char*)(from + first * (along_k ? step : 1));
  s.step = along_k ? 4 : step * 4;
  UNROLL
  for (int p = 0; p < side * BK / ITEMS / vec; ++p)
    s.to[p] = (uint)offset_of(p, step, count - first, depth, side, along_k, vec) * 4;
  return s;
}

// Reads a slice of the depth.
INLINE void source_load(const MatrixSource* s, float* values, int side, int along_k, int vec) {
  UNROLL
  for (int p = 0; p < side * BK / ITEMS / vec; ++p) {
    __global const char* from = s->at + s->to[p];
    if (vec == 4)
      vstore4(*(__global const float4*)from, p, values);
    else
      values[p] = *(__global const float*)from;
  }
}

// Fills the slice that was read with zeros from `depth` on.
INLINE void source_end(float* values, int depth, int side, int along_k, int vec) {
  UNROLL
  for (int p = 0; p < side * BK / ITEMS / vec; ++p) {
    const int k = along_k ? piece_of(p, side, along_k, vec) : line_of(p, side, along_k, vec);
    UNROLL
    for (int i = 0; i < vec; ++i)
      if (k >= depth) values[p * vec + i] = 0.0f;
  }
}

// Writes the values that were read to local memory, [BK][pitch]. Lines along the depth are transposed.
INLINE void source_keep(const float* values, __local float* to, int pitch, int side, int along_k, int vec) {
  UNROLL
  for (int p = 0; p < side * BK / ITEMS / vec; ++p) {
    const int piece = piece_of(p, side, along_k, vec), line = line_of(p, side, along_k, vec);
    if (along_k) {
      UNROLL
      for (int i = 0; i < vec; ++i) to[(piece + i) * pitch + line] = values[p * vec + i];
    } else if (vec == 4) {
      *(__local float4*)(to + line * pitch + piece) = vload4(p, values);
    } else {
      to[line * pitch + piece] = values[p];
    }
  }
}
