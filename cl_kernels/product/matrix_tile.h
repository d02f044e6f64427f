// The shape of a tile of C that a work-group computes on matrix units, and the layout of its operands in local memory.
//
// A group computes BM x BN results, and a wave of LANES work-items WM x WN of them, in fragments of FM x FN. A fragment
// is the result of one multiplication of the unit; product/units/matrix_unit.h gives FM and FN. Local ids are (LANES,
// WAVES), so that a wave of the device is one row.
//
// Elements in local memory have the type of the unit. PRECISION 1 is tf32, with one element in a word of 32 bits.
// PRECISION 2 is fp16 and 3 is bf16, with two elements in a word. A slice is 16 words of the depth of each row of A and
// column of B. A multiplication takes 8 of these words, which is a step.
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
// The number of slices that local memory holds. With 2, one is multiplied while the next is written.
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
