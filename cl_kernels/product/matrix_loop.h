// The loop of a tile of product/matrix_tile.h: acc += the product of both operands over the depth.
//
// Before a file includes this one, it must define where the operands come from, as for product/block_multiply.h:
// Operands, operands_load, operands_end, operands_move and operands_keep. operands_keep rounds a slice of A and of B
// and writes them to local memory, B after A, as product/units/matrix_place.h says. LOADS_A and LOADS_B are how many
// numbers an item reads of a slice of A and of B.
//
// Each slice is on its way from memory while the slice before it is multiplied. The reads are unconditional, so that
// compilers leave them where they are: at the end the last slice is read again.
#include "product/keep_order.h"
#include "product/matrix_multiply.h"

// `stages` is STAGES * STAGE of local memory; the depth is at least 1.
INLINE void tile_multiply(TileSums acc, Operands* operands, __local uint* stages, int depth) {
  float next_a[LOADS_A], next_b[LOADS_B];
  int slices = (depth + SLICE - 1) / SLICE;
  // A slice that is not full comes first, so that the loop needs no bounds.
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
