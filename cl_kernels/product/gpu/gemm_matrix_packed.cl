// GEMM on matrix units, for operands that gemm_matrix_pack.cl has packed: C = f(A * B (+ C) (+ bias)), m x n, with a
// depth of `slices` slices. f is as in product/epilogue.h.
//
// A work-group computes a BM x BN tile (engines/mma_engine.h). Local memory holds STAGES slices: one is multiplied
// while another is on its way (gpu/matrix_copy.h). `sides_a` and `sides_b` are the numbers of packed rows of A and
// columns of B.
#ifndef STAGES
#define STAGES 3
#endif
#include "product/gpu/engines/engine.h"
#include "product/gpu/matrix_copy.h"
#include "product/gpu/engines/keep_order.h"
#include "product/gpu/sink.h"
#include "product/gpu/tile_place.h"

#define COPIES_OF(side) ((side) * SLICE_WORDS / 4 / ITEMS)
#if BM * SLICE_WORDS / 4 % ITEMS || BN * SLICE_WORDS / 4 % ITEMS
#error "an item copies whole fours of words"
#endif

typedef struct {
  Copy a[COPIES_OF(BM)], b[COPIES_OF(BN)];
} SliceCopy;

INLINE uint word_of_copy(int i) { return (uint)(i * ITEMS + tile_item()) * 4; }

INLINE void slice_begin(SliceCopy* copy, __local uint* to, __global const uint* a, __global const uint* b) {
  UNROLL
  for (int i = 0; i < COPIES_OF(BM); ++i) copy_begin(copy->a + i, to + word_of_copy(i), a + word_of_copy(i));
  UNROLL
  for (int i = 0; i < COPIES_OF(BN); ++i)
    copy_begin(copy->b + i, to + BM * SLICE_WORDS + word_of_copy(i), b + word_of_copy(i));
  copies_set();
}

INLINE void slice_end(const SliceCopy* copy, __local uint* to) {
  UNROLL
  for (int i = 0; i < COPIES_OF(BM); ++i) copy_end(copy->a + i, to + word_of_copy(i));
  UNROLL
  for (int i = 0; i < COPIES_OF(BN); ++i) copy_end(copy->b + i, to + BM * SLICE_WORDS + word_of_copy(i));
}

TILE_KERNEL void gemm_matrix_packed(__global const uint* restrict a, const ulong a_offset,
                                    __global const uint* restrict b, const ulong b_offset, __global RESULT* restrict c, const ulong c_offset,
                                    __global const RESULT* restrict bias, const ulong bias_offset, EPILOGUE_PARAMETERS,
                                    const ProductParameters product, const long sides_a, const long sides_b,
                                    const long c_row, const int slices) {
  LOCAL_STAGES;
  TilePlace tile;
  tile_place_in_bands(&tile, &product);
  a += a_offset + tile.row * SLICE_WORDS;
  b += b_offset + tile.column * SLICE_WORDS;
  const long step_a = sides_a * SLICE_WORDS, step_b = sides_b * SLICE_WORDS;

  // After the last slice, the last slice is copied again, to a stage that nobody reads. So the loop needs no branch.
  const int last = slices - 1;
  SliceCopy copy;
  UNROLL
  for (int s = 0; s < STAGES - 1; ++s) {
    slice_begin(&copy, stages + s * STAGE, a, b);
    slice_end(&copy, stages + s * STAGE);
    a += s < last ? step_a : 0;
    b += s < last ? step_b : 0;
  }
  TileSums acc;
  sums_clear(acc);
  int now = 0, next = (STAGES - 1) * STAGE;
  for (int s = 0; s < slices; ++s) {
    COPIES_WAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);  // All items' copies have arrived, and nobody reads the stage that is written next.
    slice_begin(&copy, stages + next, a, b);
    a += s + STAGES - 1 < last ? step_a : 0;
    b += s + STAGES - 1 < last ? step_b : 0;
    KEEP_ORDER;
    slice_multiply(acc, stages + now);
    KEEP_ORDER;
    slice_end(&copy, stages + next);
    next = now;
    now = now == (STAGES - 1) * STAGE ? 0 : now + STAGE;
  }
  COPIES_WAIT(0);

  const Target target = {c + c_offset, bias + bias_offset, c_row, 1, product.flags};
  const Finish finish = FINISH_OF(0);
  const ColumnParameters columns = {0};
  tile_store(acc, tile.row, tile.column, product.m, product.n, &columns, &target, &finish);
}
