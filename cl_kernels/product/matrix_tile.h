// The shape of a tile of C that a work-group computes on matrix units, and where its operands lie in local memory.
//
// BM x BN results a group, WM x WN a wave of LANES work-items, in fragments of FM x FN (what one multiplication of the unit
// gives, with FM and FN of product/units/matrix_unit.h). Local ids are (LANES, WAVES), so that a wave of the device is one row.
//
// Elements in local memory are as the unit takes them: PRECISION 1 tf32, one to a word of 32 bits; 2 fp16 and 3 bf16, two.
// A slice is 16 words of the depth of each row of A and column of B, and a multiplication takes 8 of them, a step.
#include "common/inline.h"
#include "product/units/matrix_unit.h"

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 32
#endif
// Slices that local memory holds: with 2, one is multiplied while the next is written.
#ifndef STAGES
#define STAGES 2
#endif

#define WAVES (BM / WM * (BN / WN))
#define ITEMS (LANES * WAVES)
#if BM % WM || BN % WN || WM % FM || WN % FN || BM % 8 || BN % 8
#error "a tile is made of whole fragments"
#endif

#define SLICE_WORDS 16
#define SLICE (SLICE_WORDS * PER_WORD)
#define STAGE (SLICE_WORDS * (BM + BN))

INLINE int wave_lane(void) { return get_local_id(0); }
INLINE int wave_row(void) { return (int)get_local_id(1) / (BN / WN) * WM; }
INLINE int wave_column(void) { return (int)get_local_id(1) % (BN / WN) * WN; }
INLINE int tile_item(void) { return (int)get_local_id(1) * LANES + (int)get_local_id(0); }
