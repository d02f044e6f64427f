// The loop of a tile of product/block.h: acc[i][j] += sum over the depth of A[i][k] * B[k][j].
//
// Before a file includes this one, it must define where the operands come from:
//
//   Operands             a type
//   operands_load(o, a, b)          reads a whole slice of the depth, even where the slice reaches beyond the end
//   operands_end(a, b, depth)       fills the slice with zeros from `depth` on
//   operands_move(o, depth)         moves on by `depth`
//   operands_keep(o, a, b, stage)   writes the slice to local memory: A as [BK][PITCH_A], then B as [BK][PITCH_B];
//                                   called between the load and the next move
//
// With MOVES_BY_SCALAR the last move is a move by 0. AMD's compilers keep this number in a scalar register. So they
// also keep the moved addresses in scalar registers. Operands whose addresses are in scalar registers anyway do not
// need this; for them a condition is shorter.
//
// There are two stages of local memory, so that one barrier a slice is enough. There are two sets of fragments in
// registers: while one column of the slice is multiplied, the next one is read.
//
// Each slice is on its way from memory during the whole multiplication of the slice before it. So its loads are queued
// at the end of an iteration, because compilers move the loads within an iteration down to their use. The loads are
// unconditional for the same reason: at the end the last slice is read again.
#include "product/block.h"
#include "product/keep_order.h"

#define LOADS_A (BM * BK / ITEMS)
#define LOADS_B (BN * BK / ITEMS)

INLINE void fragments_read(__local const float* stage, int k, float* a, float* b) {
  UNROLL
  for (int i = 0; i < TM; i += 4)
    vstore4(*(__local const float4*)(stage + k * PITCH_A + block_row() + ROW_OF(i)), 0, a + i);
  UNROLL
  for (int j = 0; j < TN; j += 4)
    vstore4(*(__local const float4*)(stage + BK * PITCH_A + k * PITCH_B + block_column() + COLUMN_OF(j)), 0, b + j);
}

INLINE void fragments_multiply(float acc[TM][TN], const float a[TM], const float b[TN]) {
  UNROLL
  for (int i = 0; i < TM; ++i)
    UNROLL
    for (int j = 0; j < TN; ++j) acc[i][j] = FMA(a[i], b[j], acc[i][j]);
}

// Multiplies the slice in `now`, stores the next slice to `then` and starts to read the slice after that.
INLINE void block_slice(float acc[TM][TN], Operands* operands, float a[2][TM], float b[2][TN], float next_a[LOADS_A],
                        float next_b[LOADS_B], __local const float* now, __local float* then, int slices) {
  UNROLL
  for (int k = 0; k < BK - 1; ++k) {
    fragments_read(now, k + 1, a[1 - k % 2], b[1 - k % 2]);
    fragments_multiply(acc, a[k % 2], b[k % 2]);
    KEEP_ORDER;
  }
  operands_keep(operands, next_a, next_b, then);
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef MOVES_BY_SCALAR
  operands_move(operands, UNIFORM(slices > 2 ? BK : 0));
#else
  if (slices > 2) operands_move(operands, BK);
#endif
  operands_load(operands, next_a, next_b);
  fragments_read(then, 0, a[0], b[0]);
  fragments_multiply(acc, a[1], b[1]);
}

// `stages` is 2 * STAGE of local memory; the depth is at least 1.
INLINE void tile_multiply(TileSums acc, Operands* operands, __local float* stages, int depth) {
  float a[2][TM], b[2][TN], next_a[LOADS_A], next_b[LOADS_B];
  int slices = (depth + BK - 1) / BK;
  // A slice that is not full comes first, so that the loop needs no bounds.
  const int part = depth - (slices - 1) * BK;
  operands_load(operands, next_a, next_b);
  operands_end(next_a, next_b, part);
  operands_keep(operands, next_a, next_b, stages);
  if (slices > 1) operands_move(operands, part);
  operands_load(operands, next_a, next_b);
  barrier(CLK_LOCAL_MEM_FENCE);
  fragments_read(stages, 0, a[0], b[0]);
  UNROLL
  for (int i = 0; i < TM; ++i)
    UNROLL
    for (int j = 0; j < TN; ++j) acc[i][j] = 0.0f;
#ifdef ROLLED
  for (int now = 0; slices > 0; --slices, now = STAGE - now)
    block_slice(acc, operands, a, b, next_a, next_b, stages + now, stages + STAGE - now, slices);
#else
  do {  // Two slices an iteration, so that addresses in local memory are constants.
    block_slice(acc, operands, a, b, next_a, next_b, stages, stages + STAGE, slices);
    if (--slices == 0) break;
    block_slice(acc, operands, a, b, next_a, next_b, stages + STAGE, stages, slices);
  } while (--slices > 0);
#endif
}
