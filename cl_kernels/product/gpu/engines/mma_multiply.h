// The loop of engines/mma_engine.h; see engines/multiply.h.
#include "product/gpu/engines/mma_engine.h"

INLINE void tile_multiply(TileSums acc, Operands* operands, __local StageWord* stages, int depth) {
  VALUE_TYPE next_a[LOADS(BM)], next_b[LOADS(BN)];
  int slices = (depth + SLICE - 1) / SLICE;
  int move = depth - (slices - 1) * SLICE;
  operands_load(operands, next_a, next_b);
  operands_end(next_a, next_b, move);
  sums_clear(acc);
  for (int now = 0;; now = (STAGES - 1) * STAGE - now) {
    operands_keep(operands, next_a, next_b, stages + now);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slices == 1) move = 0;
    operands_move(operands, move);
    move = SLICE;
    operands_load(operands, next_a, next_b);
    KEEP_ORDER;
    slice_multiply(acc, stages + now);
    if (--slices == 0) break;
#if STAGES == 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
}
