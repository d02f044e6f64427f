// The engine that multiplies with multiply-adds. engines/engine.h describes what it gives.
//
// A group computes BM x BN results, and a work-item TM x TN of them, BK of the depth at a time. 32 neighbouring
// work-items form a patch of 4 x 8, which computes 4 * TM rows and 8 * TN columns in quadrants: item (y, x) of a patch
// owns rows 4y … 4y + 3 of every 16 and columns 4x … 4x + 3 of every 32. So an item reads operands from local memory
// four at a time, and the 32 items of a wave read neighbouring banks. Nothing depends on the device's wave size.
//
// Local ids are (8, ITEMS / 8): dimension 0 is x, dimension 1 counts the rows of all patches.

#include "common/fma.h"
#include "product/gpu/units/types.h"

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
#if BM % PATCH_ROWS || BN % PATCH_COLUMNS || TM % 4 || TM > 8 || TN % 4 || TN > 8 || BK % 4
#error "a tile is made of whole patches"
#endif
#ifdef ANY_GROUP_SIZE  // A compiler option limits the registers. It has an effect only if the kernel requires no
                       // work-group size.
#define TILE_KERNEL __kernel
#else
#define TILE_KERNEL __kernel __attribute__((reqd_work_group_size(8, ITEMS / 8, 1)))
#endif

INLINE int tile_item(void) { return get_local_id(1) * 8 + get_local_id(0); }

// ---- Slices in local memory ----

// Each operand has [BK][PITCH(side)] words of local memory. PITCH is 4 more than the side. When eight items store
// pieces of a row transposed, this pitch puts them into different banks.
typedef VALUE_TYPE StageWord;
#define PER_WORD 1
#define SLICE BK
#define LOADS(side) ((side) * BK / ITEMS)
#define PITCH(side) ((side) + 4)
#define STAGE (BK * (PITCH(BM) + PITCH(BN)))
#define STAGE_A(stage) (stage)
#define STAGE_B(stage) ((stage) + BK * PITCH(BM))
#define LOCAL_STAGES __local StageWord stages[2 * STAGE] __attribute__((aligned(16)))

// A chunk is `vec` elements of a line. Neighbouring items take neighbouring chunks.
#define CHUNK_LINES 1
#define CHUNK_RUN(vec) (vec)
#define CHUNKS(side, vec) ((side) * BK / ITEMS / (vec))
INLINE bool has_chunk(int part, int side) { return true; }
INLINE int chunk_along(int part, int side, int along_k, int vec) {
  const int chunks = (along_k ? BK : side) / vec;
  return (tile_item() + part * ITEMS) % chunks * vec;
}
INLINE int chunk_line(int part, int side, int along_k, int vec) {
  const int chunks = (along_k ? BK : side) / vec;
  return (tile_item() + part * ITEMS) / chunks;
}

// Lines along the depth are transposed.
INLINE void stage_chunk(__local StageWord* to, int side, int part, const VALUE_TYPE* values, int along_k, int vec) {
  const int along = chunk_along(part, side, along_k, vec), line = chunk_line(part, side, along_k, vec);
  if (along_k) {
    UNROLL
    for (int i = 0; i < vec; ++i) to[(along + i) * PITCH(side) + line] = values[i];
  } else if (vec == 4) {
    *(__local VALUES(4)*)(to + line * PITCH(side) + along) = vload4(0, values);
  } else {
    to[line * PITCH(side) + along] = values[0];
  }
}

INLINE void stage_run(__local StageWord* to, int side, int line, int first, const VALUE_TYPE* values, int count) {
  UNROLL
  for (int i = 0; i < count; ++i) to[(first + i) * PITCH(side) + line] = values[i];
}

INLINE void stage_word(__local StageWord* to, int side, int line, int word, VALUE_TYPE first, VALUE_TYPE last) {
  to[word * PITCH(side) + line] = first;
}

INLINE void stage_element(__local StageWord* to, int side, int line, int depth, VALUE_TYPE value) {
  to[depth * PITCH(side) + line] = value;
}

// ---- Sums ----

#define RUNS TM
#define ROW_RUN TN
typedef SUM_TYPE TileSums[RUNS * ROW_RUN];

INLINE int item_row(void) {
  const int y = get_local_id(1);
  return (y >> 2) / (BN / PATCH_COLUMNS) * PATCH_ROWS + (y & 3) * 4;
}
INLINE int item_column(void) {
  const int y = get_local_id(1);
  return (y >> 2) % (BN / PATCH_COLUMNS) * PATCH_COLUMNS + (int)get_local_id(0) * 4;
}
#define ROW_OF(i) ((i) / 4 * 16 + (i) % 4)
#define COLUMN_OF(j) ((j) / 4 * 32 + (j) % 4)
INLINE int run_row(int run) { return ROW_OF(run); }
INLINE int run_column(int run, int i) { return COLUMN_OF(i); }
INLINE int run_slot(int run) { return item_column() / PATCH_COLUMNS * 8 + (int)get_local_id(0); }

INLINE void sums_clear(TileSums acc) {
  UNROLL
  for (int s = 0; s < RUNS * ROW_RUN; ++s) acc[s] = 0.0f;
}

// Reads four or eight elements. Groups of four are `next` apart. There is no loop, because NVIDIA's compiler does not
// unroll loops with two iterations and then keeps the fragments in memory.
INLINE void fragment_read(__local const VALUE_TYPE* from, int next, int count, VALUE_TYPE* to) {
  vstore4(*(__local const VALUES(4)*)from, 0, to);
  if (count > 4) vstore4(*(__local const VALUES(4)*)(from + next), 1, to);
}

INLINE void fragments_read(__local const StageWord* stage, int k, VALUE_TYPE* a, VALUE_TYPE* b) {
  fragment_read(STAGE_A(stage) + k * PITCH(BM) + item_row(), ROW_OF(4), TM, a);
  fragment_read(STAGE_B(stage) + k * PITCH(BN) + item_column(), COLUMN_OF(4), TN, b);
}

INLINE void fragments_multiply(TileSums acc, const VALUE_TYPE a[TM], const VALUE_TYPE b[TN]) {
  UNROLL
  for (int i = 0; i < TM; ++i) UNROLL
  for (int j = 0; j < TN; ++j) acc[i * TN + j] = FMA(a[i], b[j], acc[i * TN + j]);
}

INLINE void slice_multiply(TileSums acc, __local const StageWord* stage) {
  VALUE_TYPE a[TM], b[TN];
  UNROLL
  for (int k = 0; k < BK; ++k) {
    fragments_read(stage, k, a, b);
    fragments_multiply(acc, a, b);
  }
}
