// The engine that multiplies the tiles of a product. If UNIT names a matrix unit, it is engines/mma_engine.h. Otherwise
// it is engines/fma_engine.h, which uses multiply-adds. A work-group computes BM x BN results. It reads both operands
// slice by slice along the depth, and keeps the slices in local memory.
//
// `side` is BM for A and BN for B: the number of rows of A, or of columns of B, in a tile. A "line" is one such row or
// column. All calls of the functions below pass constants for `side`, `along_k`, `vec` and `count`.
//
// An engine gives
//
//   TILE_KERNEL          the attributes of a kernel
//   LOCAL_STAGES         declares the local memory `stages`
//   ITEMS, tile_item()   the work-items of a group, and the number of this one
//   SLICE                elements of the depth in a slice
//   VALUE_TYPE           the type that readers give elements in
//   SUM_TYPE             the type of sums
//   StageWord            the type of local memory. It holds PER_WORD neighbours of the depth.
//   STAGE_A, STAGE_B     where a stage holds its slice of A and of B
//   LOADS(side)          a lower bound for the elements of an operand's slice that an item reads
//
// Elements reach local memory in one of four ways. The reader chooses the way that suits it:
//
//   stage_chunk(to, side, part, values, along_k, vec)   chunk `part` of an item
//   stage_run(to, side, line, first, values, count)     `count` neighbours of the depth, from `first` on, of a line
//   stage_word(to, side, line, word, first, last)       one word of a line: the element `first`, or `first` and `last`
//   stage_element(to, side, line, depth, value)         one element: for sums that become an operand of another product
//
// A chunk has CHUNK_LINES lines of CHUNK_RUN(vec) elements in memory. The elements of a line are neighbours in memory,
// along the depth with `along_k`, else across it. The item's chunk `part` starts at line chunk_line(part, …) and at
// element chunk_along(part, …) of it. CHUNKS(side, vec) is the number of an item's chunks. has_chunk(part, side) is
// false if there are fewer chunks than items and this item has none.
//
// The sums of an item are numbers in registers: RUNS runs of ROW_RUN sums. A run is in one row.
//
//   TileSums                       their type, an array, run by run
//   sums_clear(acc)
//   item_row(), item_column()      the place of the item's first sum in the tile
//   run_row(run), run_column(run, i)   constants: the place of sum i of a run, relative to the item's first sum. VEC_C
//                                  sums of a run, from a multiple of VEC_C on, are neighbours.
//   run_slot(run)                  the number of a run among the BN / ROW_RUN runs of its row: for sums over rows
//   slice_multiply(acc, stage)     acc += the product of the two slices in a stage
//   tile_multiply(acc, operands, stages, depth)   the whole loop over the depth (engines/multiply.h)

// A file is included only once. So the files that both engines include come before the condition.
#include "common/inline.h"
#include "common/unroll.h"
#include "product/sizes.h"
#include "product/gpu/units/kinds.h"
#include "product/gpu/units/types.h"
#ifdef UNIT
#include "product/gpu/engines/mma_engine.h"
#else
#include "product/gpu/engines/fma_engine.h"
#endif
#if SLICE > MAX_SLICE
#error "a slice is longer than the tables of convolutions allow"
#endif
