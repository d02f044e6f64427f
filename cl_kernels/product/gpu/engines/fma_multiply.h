// The loop of engines/fma_engine.h; see engines/multiply.h.
//
// There are two stages of local memory, so that one barrier a slice is enough. There are two sets of fragments in
// registers: while one column of the slice is multiplied, the next one is read. The loads of the next slice are at the
// end of an iteration. At its beginning, compilers would move the loads down to their use.
//
// With MOVES_BY_SCALAR the last move is a move by 0. AMD's compilers keep this number in a scalar register. So they
// also keep the moved addresses in scalar registers. Without MOVES_BY_SCALAR the last move is left out by a condition.
// This is shorter, for operands whose addresses are in scalar registers anyway.
//
// A file may define KEEPS_READS. The values of a slice then have a use after every jump of the loop, so compilers leave
// the reads before the jumps. Without KEEPS_READS, NVIDIA's compiler moves some reads down to the use of their values.
#include "product/gpu/engines/fma_engine.h"

// Multiplies the slice in `now`, stores the next slice to `then` and starts to read the slice after that.
INLINE void stages_multiply(TileSums acc, Operands* operands, VALUE_TYPE a[2][TM], VALUE_TYPE b[2][TN],
                            VALUE_TYPE next_a[LOADS(BM)], VALUE_TYPE next_b[LOADS(BN)],
                            __local const StageWord* now, __local StageWord* then, int slices) {
  UNROLL
  for (int k = 0; k < BK - 1; ++k) {
    fragments_read(now, k + 1, a[1 - k % 2], b[1 - k % 2]);
    fragments_multiply(acc, a[k % 2], b[k % 2]);
    KEEP_ORDER;
  }
  operands_keep(operands, next_a, next_b, then);
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef MOVES_BY_SCALAR
  operands_move(operands, SUBGROUP_BROADCAST(slices > 2 ? BK : 0));
#else
  if (slices > 2) operands_move(operands, BK);
#endif
  operands_load(operands, next_a, next_b);
  fragments_read(then, 0, a[0], b[0]);
  fragments_multiply(acc, a[1], b[1]);
}

INLINE void tile_multiply(TileSums acc, Operands* operands, __local StageWord* stages, int depth) {
  VALUE_TYPE a[2][TM], b[2][TN], next_a[LOADS(BM)], next_b[LOADS(BN)];
  int slices = (depth + BK - 1) / BK;
  const int part = depth - (slices - 1) * BK;
  operands_load(operands, next_a, next_b);
  operands_end(next_a, next_b, part);
  operands_keep(operands, next_a, next_b, stages);
  if (slices > 1) operands_move(operands, part);
  operands_load(operands, next_a, next_b);
  barrier(CLK_LOCAL_MEM_FENCE);
  fragments_read(stages, 0, a[0], b[0]);
  sums_clear(acc);
#ifdef ROLLED
  for (int now = 0; slices > 0; --slices, now = STAGE - now)
    stages_multiply(acc, operands, a, b, next_a, next_b, stages + now, stages + STAGE - now, slices);
#else
  do {  // Two slices an iteration, so that addresses in local memory are constants.
    stages_multiply(acc, operands, a, b, next_a, next_b, stages, stages + STAGE, slices);
    if (--slices == 0) break;
    stages_multiply(acc, operands, a, b, next_a, next_b, stages + STAGE, stages, slices);
  } while (--slices > 0);
#ifdef KEEPS_READS
  if (depth < 0) operands_keep(operands, next_a, next_b, stages);  // Never true, but no compiler can find this out.
#endif
#endif
}
