// Rows of numbers. A group of GROUP work-items with VW lanes each works on one row.
//
//   CPU              GROUP 1, VW 4 to 16: a work-item takes several rows of at least VW elements, one after the other
//   CPU, other rows  GROUP 1, ROW_LANES 1: each lane of a work-item's vectors has a row of its own
//   GPU, long rows   GROUP 128, VW 1: a tree in local memory
//   otherwise        GROUP 1, VW 1: short rows, or rows whose elements are not neighbours
//
// A row of n elements is CHUNKS(n) chunks of VW. The group's work-items take chunks in turn, starting with chunk
// LANE_ID. If VW does not divide n, the last chunk is the last VW elements of the row. Its first lanes then belong to
// the chunk before. load_chunk replaces these lanes by a fill value, and store_chunk leaves them out.
//
// With ROW_LANES, a group works on VW rows at once (row_lanes.h). So a number for each row at work is a rowf: a vector
// with ROW_LANES, else a float. live_rows() is the number of rows at work.
//
// The elements of a row are of STORED. Kernels compute with floats, and keep statistics and parameters as floats.
#ifndef VW
#define VW 16
#endif
#ifndef GROUP
#define GROUP 1
#endif
#ifndef ROW_LANES
#define ROW_LANES 0
#endif

// A file is included only once. So a file that both branches include comes before the condition.
#include "common/inline.h"
#include "common/real.h"
#if VW > 1
#include "common/vector.h"
#include "common/exp.h"
#define rowv floatv
EXP_OF_NEGATIVE(exp_below, floatv, intv)
#else
#define rowv REAL
#define exp_below exp  // Only for x <= 0.
#endif
#include "common/element.h"
#include "common/over_lanes.h"
#include "common/two_sum.h"
#include "common/group_tree.h"
#include "rowwise/sizes.h"

// Starts a kernel that may call row_sum and similar functions.
#if VW > 1
#define ROW_KERNEL VECTOR_KERNEL
#elif defined(INTEL_SUBGROUPS)
#define ROW_KERNEL __kernel __attribute__((intel_reqd_sub_group_size(16)))
#else
#define ROW_KERNEL __kernel
#endif
// Starts a ROW_KERNEL whose body is EACH_ROW.
#define EACH_ROW_KERNEL ROW_KERNEL

#define CHUNKS(n) (((n) + VW - 1) / VW)
#define IS_WHOLE(chunk, n) (VW == 1 || ((chunk) + 1) * VW <= (n))
// If a row is cut into parts, a part has this many chunks of VW elements. One group takes one part.
#define PART_CHUNKS ((long)PART_CHUNKS_OF_ITEM * GROUP)
#define ROW_ID ((long)get_global_id(0) / GROUP)
// Ends the work-items that only round up the range. Whole groups have no such items, and there a return before a
// barrier would break PoCL 3.1.
#define SKIP_ITEMS_FROM(rows) \
  if (GROUP == 1 && ROW_ID >= (rows)) return

#if GROUP > 1
#define LANE_ID ((long)get_local_id(0))
#else
#define LANE_ID 0L
#endif

#define EACH_OF(k, n) _Pragma("unroll") for (int k = 0; k < n; ++k)
#define BLOCK 8
#define NOTHING(count)
#define ITEM_BEGIN(units, i) ((units) * (i) / (long)get_global_size(0))
#if ROW_LANES
#define rowf floatv
#define rowi intv
#define ROWS_AT_ONCE VW
#include "rowwise/row_lanes.h"
#else
#define rowf float
#define rowi int
#define ROWS_AT_ONCE 1
#define live_rows(row, rows, inner) 1

// Comes before a block, and runs it for each row of a group. The elements of a row are `inner` apart.
#define EACH_ROW_BESIDE(row, rows, inner) EACH_ROW(row, rows)
#if VW > 1
#define EACH_ROW(row, rows)                                                                                    \
  for (long row = ITEM_BEGIN(rows, (long)get_global_id(0)), row##_end = ITEM_BEGIN(rows, (long)get_global_id(0) + 1); \
       row < row##_end; ++row)
#elif GROUP == 1
#define EACH_ROW(row, rows)   \
  const long row = ROW_ID;    \
  if (row < (rows))
#else
#define EACH_ROW(row, rows) const long row = ROW_ID;
#endif

// Goes through a row in blocks of BLOCK chunks or of one chunk. STEP(k, c, whole) must process chunk c as number k of a
// block. `whole` is a constant. It is false for a last chunk that overlaps the chunk before. After STEP, DONE(count)
// processes the block. With ROW_LANES, `whole` is the variable `live` of the kernel.
#define EACH_CHUNK(n, STEP, DONE)                                              \
  {                                                                            \
    const long whole_ = (n) / VW;                                              \
    long c_ = LANE_ID;                                                         \
    for (; c_ + (BLOCK - 1) * GROUP < whole_; c_ += BLOCK * GROUP) {           \
      EACH_OF(k_, BLOCK) { STEP(k_, c_ + k_ * GROUP, 1) }                      \
      DONE(BLOCK)                                                              \
    }                                                                          \
    for (; c_ < whole_; c_ += GROUP) {                                         \
      STEP(0, c_, 1)                                                           \
      DONE(1)                                                                  \
    }                                                                          \
    if (VW > 1 && c_ * VW < (n)) {                                             \
      STEP(0, c_, 0)                                                           \
      DONE(1)                                                                  \
    }                                                                          \
  }

// v, but with `fill` in the lanes of a last chunk that belong to the chunk before.
INLINE rowv only_new(const rowv v, const long chunk, const long n, const float fill, const int whole) {
#if VW > 1
  if (!whole) return LANES < (intv)((int)((chunk + 1) * VW - n)) ? (rowv)(fill) : v;
#endif
  return v;
}

// load(row, chunk, …) is a chunk of a row whose elements are `step` apart (1 unless VW is 1 or ROW_LANES). store(v, row,
// chunk, …) stores it.
#if VW == 1
#define ROW_ACCESS(load, store, type)                                                                                 \
  INLINE rowv load(__global const type* row, const long chunk, const long n, const long step, const float fill,       \
                   const int whole) {                                                                                 \
    return LOAD(type, row, chunk * step);                                                                             \
  }                                                                                                                   \
  INLINE void store(const rowv v, __global type* row, const long chunk, const long n, const long step,                \
                    const int whole) {                                                                                \
    STORE(type, row, chunk * step, v);                                                                                \
  }
#else
#define ROW_ACCESS(load, store, type)                                                                                 \
  INLINE rowv load(__global const type* row, const long chunk, const long n, const long step, const float fill,       \
                   const int whole) {                                                                                 \
    return whole ? LOAD_MANY(type, row + chunk * VW) : only_new(LOAD_MANY(type, row + n - VW), chunk, n, fill, 0);    \
  }                                                                                                                   \
  INLINE void store(const rowv v, __global type* row, const long chunk, const long n, const long step,                \
                    const int whole) {                                                                                \
    if (whole) {                                                                                                      \
      STORE_MANY(type, row + chunk * VW, v);                                                                          \
      return;                                                                                                         \
    }                                                                                                                 \
    float lanes[VW];                                                                                                  \
    vstorev(v, 0, lanes);                                                                                             \
    FEW_TIMES                                                                                                         \
    for (int i = (int)((chunk + 1) * VW - n); i < VW; ++i) STORE(type, row, n - VW + i, lanes[i]);                    \
  }
#endif
// load_each(p, live) has the numbers p[0], p[1], … of the rows at work. load_shared has chunk c of numbers that all rows
// share. ROW_NUMBERS makes an array of a rowf, and rowf_of makes a rowf of an array.
#define load_each(p, live) (*(p))
#define store_each(v, p, live) *(p) = v
#define load_shared(p, c, n, whole) load_floats(p, c, n, 1, 0.0f, whole)
#define ROW_NUMBERS(numbers, v) const float numbers[1] = {v};
#define rowf_of(numbers) (numbers)[0]

// load_first loads a chunk of a row for the first time, and load_again for another time.
#define KEPT_CHUNKS(kept)
#define load_first(kept, row, chunk, n, step, fill, whole) load_chunk(row, chunk, n, step, fill, whole)
#define load_again load_first
#endif
ROW_ACCESS(load_chunk, store_chunk, STORED)
#ifdef STORED_IS_FLOAT
#define load_floats load_chunk
#define store_floats store_chunk
#else
ROW_ACCESS(load_floats, store_floats, float)
#endif


// OVER_BLOCK combines the elements of a block; `count` is BLOCK, four or one.
#define OVER_BLOCK(name, combine)                                                                      \
  INLINE rowv name(const rowv* v, const int count) {                                                   \
    if (count == 1) return v[0];                                                                       \
    if (count == 4) return combine(combine(v[0], v[1]), combine(v[2], v[3]));                          \
    const rowv left = combine(combine(v[0], v[1]), combine(v[2], v[3]));                               \
    const rowv right = combine(combine(v[4], v[5]), combine(v[6], v[7]));                              \
    return combine(left, right);                                                                       \
  }
OVER_LANES(lanes_sum, PLUS, rowv)
OVER_LANES(lanes_max, GREATER, rowv)
OVER_BLOCK(block_sum, PLUS)
OVER_BLOCK(block_max, GREATER)

// These functions combine all lanes of all work-items of the group. Every item must call them. `scratch` comes from
// ROW_SCRATCH.
#if ROW_LANES
#define ROW_SCRATCH
#define group_total(v) (v)
#define row_max(v) (v)
#define row_sum(v) (v)
#else
#if GROUP > 1
#define ROW_SCRATCH __local REAL scratch[GROUP]
GROUP_TREE(group_sum, PLUS)
GROUP_TREE(group_max, GREATER)
#define group_total(v) group_sum(v, scratch)
#define row_max(v) group_max(lanes_max(v), scratch)
#else
#define ROW_SCRATCH
#define group_total(v) (v)
#define row_max(v) lanes_max(v)
#endif
#define row_sum(v) group_total(lanes_sum(v))
#endif

// The sum of a row. The elements of a block are added as a tree. Adding a block to the sum keeps the rounding error.
typedef struct {
  rowv total, lost;
} RowSum;

#define ADD_BLOCK(sum, v, count) TWO_SUM(rowv, (sum).total, (sum).lost, block_sum(v, count))
#define EMPTY_SUM {0.0f, 0.0f}
#define total_of(sum) row_sum(WITH_LOST((sum).total, (sum).lost))

// Like RowSum, for single numbers instead of blocks.
typedef struct {
  float total, lost;
} ExactSum;

INLINE void exact_add(ExactSum* sum, const float v) { TWO_SUM(float, sum->total, sum->lost, v) }
INLINE float exact_total(const ExactSum* sum) { return WITH_LOST(sum->total, sum->lost); }
