// The shape of a tile that a work-group of a GPU computes, and the places of its work-items in the tile.
//
// A group computes BM x BN results, and a work-item TM x TN of them, BK of the depth at a time. 32 neighbouring
// work-items form a patch of 4 x 8, which computes 4 * TM rows and 8 * TN columns in quadrants: item (y, x) of a patch
// owns rows 4y … 4y + 3 of every 16 and columns 4x … 4x + 3 of every 32. So an item reads operands from local memory
// four at a time, and the 32 items of a wave read neighbouring banks. Nothing depends on the device's wave size.
//
// Local ids are (8, ITEMS / 8): dimension 0 is x, dimension 1 counts the rows of all patches.
#include "common/inline.h"
#include "common/unroll.h"

#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif

#define ITEMS (BM / TM * (BN / TN))
#define PATCH_ROWS (4 * TM)
#define PATCH_COLUMNS (8 * TN)
#if BM % PATCH_ROWS || BN % PATCH_COLUMNS || TM % 4 || TN % 4 || BK % 4
#error "a tile is made of whole patches"
#endif

// Local memory is [BK][PITCH] for each operand. PITCH is 4 more than the side. Items store eight pieces of each row
// transposed, and with this pitch no two of them use the same bank.
#define PITCH_A (BM + 4)
#define PITCH_B (BN + 4)
#define STAGE (BK * (PITCH_A + PITCH_B))

typedef float TileSums[TM][TN];
#define LOCAL_STAGES __local float stages[2 * STAGE] __attribute__((aligned(16)))
#define BLOCK_KERNEL __kernel __attribute__((reqd_work_group_size(8, ITEMS / 8, 1)))

INLINE int block_item(void) { return get_local_id(1) * 8 + get_local_id(0); }

// The item's first row and column in the tile.
INLINE int block_row(void) {
  const int y = get_local_id(1);
  return (y >> 2) / (BN / PATCH_COLUMNS) * PATCH_ROWS + (y & 3) * 4;
}
INLINE int block_column(void) {
  const int y = get_local_id(1);
  return (y >> 2) % (BN / PATCH_COLUMNS) * PATCH_COLUMNS + (int)get_local_id(0) * 4;
}
// The places of the item's row i and column j, counted from its first row and column.
#define ROW_OF(i) ((i) / 4 * 16 + (i) % 4)
#define COLUMN_OF(j) ((j) / 4 * 32 + (j) % 4)
