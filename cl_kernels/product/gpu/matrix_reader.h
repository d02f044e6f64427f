// A matrix as an operand of engines/multiply.h. The reader reads `side` rows (columns, for B), one slice of the depth
// at a time.
//
// One axis of the matrix has stride 1: the depth (`along_k`) or the other axis. Lines of this axis are `step` elements
// apart. An item reads the chunks that engines/engine.h describes. VEC is 4 if the start, the steps and the size of the
// axis with stride 1 are multiples of 4, else 1. `storage` is a number of product/gpu/storage.h. All calls of these
// functions pass constants for `side`, `along_k` and `storage`.
//
// NVIDIA's compiler unrolls loops before it inlines functions. So no loop may depend on `side`: loops run over the
// chunks of the larger side, and skip the chunks that this side does not have. Otherwise tiles with different sides
// keep their operands in memory instead of registers.
#include "product/gpu/engines/engine.h"
#include "product/gpu/storage.h"

#define MAX_CHUNKS CHUNKS(BM > BN ? BM : BN, VEC)
#define CHUNK_SIZE (CHUNK_LINES * CHUNK_RUN(VEC))

typedef struct {
  __global const char* at;  // The start of the group's slice. The address is the same for all items.
  uint to[64];              // Distances in bytes from `at` to the item's elements, VEC elements at a time.
  long step;                // Distance in bytes between elements of the depth.
} MatrixReader;

// Begins at line `first` of the operand's `count` lines. `from` points to its first element. Lines after the last one
// are replaced by the last one, because their results are never stored. If the depth is less than a slice, nothing is
// read after its end.
INLINE MatrixReader matrix_begin(__global const char* from, long step, long first, long count, int depth, int side,
                                 int along_k, int storage) {
  MatrixReader r;
  r.at = from + first * (along_k ? step : 1) * STORED_BYTES(storage);
  r.step = (along_k ? 1 : step) * STORED_BYTES(storage);
  const long last = count - first - 1;
  UNROLL
  for (int p = 0; p < MAX_CHUNKS; ++p) {
    if (p >= CHUNKS(side, VEC)) continue;
    const int along = chunk_along(p, side, along_k, VEC), line = chunk_line(p, side, along_k, VEC);
    UNROLL
    for (int l = 0; l < CHUNK_LINES; ++l)
      UNROLL
      for (int e = 0; e < CHUNK_RUN(VEC) / VEC; ++e) {
        const long offset = along_k ? min((long)(line + l), last) * step + min(along + e, depth - VEC)
                                    : min((long)(along + e), last + 1 - VEC) + min(line + l, depth - 1) * step;
        r.to[(p * CHUNK_LINES + l) * (CHUNK_RUN(VEC) / VEC) + e] = (uint)offset * STORED_BYTES(storage);
      }
  }
  return r;
}

// Reads a whole slice of the depth, even where the slice reaches beyond the end.
INLINE void matrix_load(const MatrixReader* r, VALUE_TYPE* values, int side, int storage) {
  UNROLL
  for (int p = 0; p < MAX_CHUNKS * CHUNK_SIZE / VEC; ++p) {
    const int part = p / (CHUNK_SIZE / VEC);
    if (part >= CHUNKS(side, VEC) || !has_chunk(part, side)) continue;
    __global const char* from = r->at + r->to[p];
    if (VEC == 4)
      vstore4(stored_values(from, storage), p, values);
    else
      values[p] = stored_value(from, storage);
  }
}

// Sets the values of the slice from `depth` on to 0. With vectors along the depth, `depth` is a multiple of 4.
INLINE void matrix_end(VALUE_TYPE* values, int depth, int side, int along_k) {
  UNROLL
  for (int p = 0; p < MAX_CHUNKS; ++p) {
    if (p >= CHUNKS(side, VEC)) continue;
    const int first = along_k ? chunk_along(p, side, along_k, VEC) : chunk_line(p, side, along_k, VEC);
    UNROLL
    for (int i = 0; i < CHUNK_SIZE; ++i)
      if (first + (along_k ? i % CHUNK_RUN(VEC) / VEC * VEC : i / CHUNK_RUN(VEC)) >= depth)
        values[p * CHUNK_SIZE + i] = 0.0f;
  }
}

INLINE void matrix_move(MatrixReader* r, int depth) { r->at += depth * r->step; }

// Writes the values of the slice to local memory.
INLINE void matrix_keep(const VALUE_TYPE* values, __local StageWord* to, int side, int along_k) {
  UNROLL
  for (int p = 0; p < MAX_CHUNKS; ++p)
    if (p < CHUNKS(side, VEC)) stage_chunk(to, side, p, values + p * CHUNK_SIZE, along_k, VEC);
}
