// GEMM on matrix units, of operands that gemm_matrix_pack.cl has laid out: C = f(A * B (+ C) (+ bias)), m x n, depth of
// `slices` slices; f as common/epilogue.h says.
//
// A work-group computes a BM x BN tile (common/matrix_tile.h). Local memory holds STAGES slices: the next ones are on their way
// (common/matrix_copy.h) while one is multiplied. `sides_a` and `sides_b` are the packed rows of A and columns of B.
#ifndef STAGES
#define STAGES 3
#endif
#include "common/matrix_multiply.h"
#include "common/matrix_copy.h"
#include "common/plain_columns.h"
#include "common/matrix_store.h"
#include "common/tile_place.h"

// Begins to copy a slice of the tile.
INLINE void slice_begin(__local uint* to, __global const uint* a, __global const uint* b) {
  const int item = tile_item();
  UNROLL
  for (int i = 0; i < BM * SLICE_WORDS / 4; i += ITEMS) copy_begin(to + (i + item) * 4, a + (i + item) * 4);
  UNROLL
  for (int i = 0; i < BN * SLICE_WORDS / 4; i += ITEMS)
    copy_begin(to + BM * SLICE_WORDS + (i + item) * 4, b + (i + item) * 4);
  copies_set();
}

MATRIX_KERNEL void gemm_matrix_packed(
    __global const uint* restrict a, const ulong a_offset, __global const uint* restrict b, const ulong b_offset,
    __global float* restrict c, const ulong c_offset, __global const float* restrict bias, const ulong bias_offset,
    EPILOGUE_PARAMETERS, const long m, const long n, const long sides_a, const long sides_b, const long c_row,
    const int slices, const int flags) {
  LOCAL_STAGES;
  const TilePlace place = tile_place(m, n, 1);
  const long row = place.row, column = place.column;
  a += a_offset + row * SLICE_WORDS;
  b += b_offset + column * SLICE_WORDS;
  const long step_a = sides_a * SLICE_WORDS, step_b = sides_b * SLICE_WORDS;

  // Past the last slice it is copied again, to where nobody reads: so the loop has no branch.
  const int last = slices - 1;
  UNROLL
  for (int s = 0; s < STAGES - 1; ++s) slice_begin(stages + s * STAGE, a + min(s, last) * step_a, b + min(s, last) * step_b);
  TileSums acc;
  sums_clear(acc);
  int now = 0, next = (STAGES - 1) * STAGE;
  for (int s = 0; s < slices; ++s) {
    COPIES_WAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);  // Everybody's copies are there, and nobody reads the stage that is written next.
    const int ahead = min(s + STAGES - 1, last);
    slice_begin(stages + next, a + ahead * step_a, b + ahead * step_b);
    slice_multiply(acc, stages + now);
    next = now;
    now = now == (STAGES - 1) * STAGE ? 0 : now + STAGE;
  }
  COPIES_WAIT(0);

  const Target target = {c + c_offset, bias + bias_offset, c_row, 1, flags};
  const Finish finish = FINISH_OF(0);
  const Columns columns = {0};
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
