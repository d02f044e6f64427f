// The parts of rows.h for ROW_LANES. A chunk has one element of each of VW rows, of which `live` exist. The other lanes
// have zeros, and are not stored.
#include "common/unroll.h"

// The first element of row r is at r / inner * inner * n + r % inner if the elements of rows are `inner` > 1 apart, and
// at r n otherwise. A work-item takes blocks of up to VW rows, which are neighbours in one run of `inner` rows, or in
// all rows.
INLINE long row_begin(const long id, const long rows, const long inner) {
  const long run = inner > 1 ? inner : rows;
  const long blocks = (run + VW - 1) / VW;
  const long block = ITEM_BEGIN(rows / run * blocks, id);
  return block / blocks * run + block % blocks * VW;
}
INLINE int live_rows(const long row, const long rows, const long inner) {
  const long run = inner > 1 ? inner : rows;
  return (int)min((long)VW, run - row % run);
}
#define EACH_ROW_BESIDE(row, rows, inner)                                   \
  for (long row = row_begin((long)get_global_id(0), rows, inner),           \
            row##_end = row_begin((long)get_global_id(0) + 1, rows, inner); \
       row < row##_end; row += live_rows(row, rows, inner))
#define EACH_ROW(row, rows) EACH_ROW_BESIDE(row, rows, 1)

#define EACH_CHUNK(n, STEP, DONE)     \
  for (long c_ = 0; c_ < (n); ++c_) { \
    STEP(0, c_, live)                 \
    DONE(1)                           \
  }

// Runs DO for i = 0 … live-1. The loop of the usual case is unrolled.
#define FOR_LIVE(DO)                   \
  if (live == VW) {                    \
    UNROLL                             \
    for (int i = 0; i < VW; ++i) DO;   \
  } else {                             \
    FEW_TIMES                          \
    for (int i = 0; i < live; ++i) DO; \
  }

#define ROW_ACCESS(load, store, type)                                                                          \
  INLINE rowv load(__global const type* row, const long chunk, const long n, const long step, const rowf fill, \
                   const int live) {                                                                           \
    row += chunk * step;                                                                                       \
    if (step > 1 && live == VW) return LOAD_MANY(type, row);                                                   \
    const long apart = step > 1 ? 1 : n;                                                                       \
    float lanes[VW];                                                                                           \
    if (live < VW) vstorev((floatv)(0.0f), 0, lanes);                                                          \
    FOR_LIVE(lanes[i] = LOAD(type, row, i * apart))                                                            \
    return vloadv(0, lanes);                                                                                   \
  }                                                                                                            \
  INLINE void store(const rowv v, __global type* row, const long chunk, const long n, const long step,         \
                    const int live) {                                                                          \
    row += chunk * step;                                                                                       \
    if (step > 1 && live == VW) {                                                                              \
      STORE_MANY(type, row, v);                                                                                \
      return;                                                                                                  \
    }                                                                                                          \
    const long apart = step > 1 ? 1 : n;                                                                       \
    float lanes[VW];                                                                                           \
    vstorev(v, 0, lanes);                                                                                      \
    FOR_LIVE(STORE(type, row, i * apart, lanes[i]))                                                            \
  }

// To collect a chunk of several rows takes longer than to compute with it. So short rows are collected once.
#define MOST_KEPT 16
#define KEPT_CHUNKS(kept) rowv kept[MOST_KEPT];
INLINE rowv keep(rowv* kept, const long chunk, const long n, const rowv v) {
  if (n <= MOST_KEPT) kept[chunk] = v;
  return v;
}
#define load_first(kept, row, chunk, n, step, fill, live) \
  keep(kept, chunk, n, load_chunk(row, chunk, n, step, fill, live))
#define load_again(kept, row, chunk, n, step, fill, live) \
  ((n) <= MOST_KEPT ? (kept)[chunk] : load_chunk(row, chunk, n, step, fill, live))

INLINE rowf load_each(__global const float* p, const int live) {
  float lanes[VW];
  if (live < VW) vstorev((floatv)(0.0f), 0, lanes);
  FOR_LIVE(lanes[i] = p[i])
  return vloadv(0, lanes);
}
// The indices are constants: Mesa 22.3 exchanges the arrays of two stores with loops of a variable length.
INLINE void store_each(const rowf v, __global float* p, const int live) {
  float lanes[VW];
  vstorev(v, 0, lanes);
  UNROLL
  for (int i = 0; i < VW; ++i)
    if (i < live) p[i] = lanes[i];
}
#define load_shared(p, c, n, whole) (rowv)((p)[c])
#define ROW_NUMBERS(numbers, v) \
  float numbers[VW];            \
  vstorev(v, 0, numbers);
#define rowf_of(numbers) vloadv(0, numbers)
