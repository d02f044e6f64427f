// tile_multiply: acc = the product of both operands over the depth, by the engine that engines/engine.h includes.
//
// Before a file includes this one, it must define where the operands come from:
//
//   Operands             a type
//   operands_load(o, a, b)          reads a whole slice of the depth, even where the slice reaches beyond the end
//   operands_end(a, b, depth)       fills the slice with zeros from `depth` on
//   operands_move(o, depth)         moves on by `depth`
//   operands_keep(o, a, b, stage)   writes the slice to a stage of local memory; called between the load and the next
//                                   move
//
// Each slice is read from memory while the slice before it is multiplied. The reads are unconditional, so that
// compilers do not move them. At the end the last slice is read once more. The depth is at least 1. If one slice is not
// full, it comes first, so that the loop needs no bounds.
#include "product/gpu/engines/engine.h"
#include "product/gpu/engines/keep_order.h"
#ifdef UNIT
#include "product/gpu/engines/mma_multiply.h"
#else
#include "product/gpu/engines/fma_multiply.h"
#endif
