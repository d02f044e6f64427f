// Softmax (LOG 0) or log-softmax (LOG 1) along one axis, forward and backward. With m = max x and s = sum exp(x - m) of
// a row:
//
//   softmax:      y = exp(x - m) / s         dx = y (dy - sum dy y)
//   log-softmax:  y = (x - m) - log s        dx = dy - exp(y) sum dy
//
// A tensor is a contiguous (outer, n, inner) of STORED. Row r = (outer o, inner i) starts at o n inner + i, and its
// elements are `inner` apart. A row with only -inf gives NaN, and so does a row with +inf or NaN.
#include "rowwise/rows.h"
#ifndef LOG
#define LOG 0
#endif

// If one work-item has a whole row, exp(x - m) is kept, because reading it again costs less than computing it again.
// y keeps it if it is of floats. With KEPT_IN_SCRATCH, each work-item has n floats for it.
#ifdef KEPT_IN_SCRATCH
#define KEEPS 1
#define RESULT_PARAMETERS \
  __global STORED *restrict y, ulong y_offset, __global float *restrict scratch, ulong scratch_offset
#define RESULT_ARGUMENTS y, y_offset, scratch, scratch_offset
#define KEPT (scratch + scratch_offset + (long)get_global_id(0) * n)
#else
#ifdef STORED_IS_FLOAT
#define KEEPS (VW > 1 && !ROW_LANES && !LOG)
#else
#define KEEPS 0
#endif
#define RESULT_PARAMETERS __global STORED *restrict y, ulong y_offset
#define RESULT_ARGUMENTS y, y_offset
#define KEPT ((__global float*)to)
#endif

INLINE long softmax_row(const long row, const long n, const long inner) {
  return row / inner * n * inner + row % inner;
}

EACH_ROW_KERNEL void softmax_forward(__global const STORED* restrict x, ulong x_offset, RESULT_PARAMETERS, long rows,
                              long n, long inner) {
  ROW_SCRATCH;
  EACH_ROW_BESIDE(row, rows, inner) {
    const int live = live_rows(row, rows, inner);
    __global const STORED* from = x + x_offset + softmax_row(row, n, inner);
    __global STORED* to = y + y_offset + softmax_row(row, n, inner);
    rowv v[BLOCK];
    KEPT_CHUNKS(kept)

    rowv highest = -INFINITY;
#define READ(k, c, whole) v[k] = load_first(kept, from, c, n, inner, -INFINITY, whole);
#define RAISE(count)                       \
  {                                        \
    const rowv top = block_max(v, count);  \
    highest = GREATER(top, highest);       \
  }
    EACH_CHUNK(n, READ, RAISE)
    const rowf m = row_max(highest);

    RowSum sum = EMPTY_SUM;
#define EXPONENTIATE(k, c, whole)                                              \
  v[k] = exp_below(load_again(kept, from, c, n, inner, -INFINITY, whole) - m); \
  if (KEEPS) store_floats(v[k], KEPT, c, n, inner, whole);
#define ADD(count) ADD_BLOCK(sum, v, count)
    EACH_CHUNK(n, EXPONENTIATE, ADD)
    const rowf s = total_of(sum);
    const rowf share = LOG ? log(s) : 1.0f / s;

#define WRITE(k, c, whole)                                                          \
  {                                                                                 \
    rowv y_;                                                                        \
    if (LOG)                                                                        \
      y_ = load_again(kept, from, c, n, inner, 0.0f, whole) - m - share;            \
    else if (KEEPS)                                                                 \
      y_ = load_floats(KEPT, c, n, inner, 0.0f, whole) * share;                     \
    else                                                                            \
      y_ = exp_below(load_again(kept, from, c, n, inner, 0.0f, whole) - m) * share; \
    store_chunk(y_, to, c, n, inner, whole);                                        \
  }
    EACH_CHUNK(n, WRITE, NOTHING)
  }
}

EACH_ROW_KERNEL void softmax_backward(
    __global const STORED* restrict dy, ulong dy_offset, __global const STORED* restrict y, ulong y_offset,
    __global STORED* restrict dx, ulong dx_offset, long rows, long n, long inner) {
  ROW_SCRATCH;
  EACH_ROW_BESIDE(row, rows, inner) {
    const int live = live_rows(row, rows, inner);
    __global const STORED* g = dy + dy_offset + softmax_row(row, n, inner);
    __global const STORED* p = y + y_offset + softmax_row(row, n, inner);
    __global STORED* to = dx + dx_offset + softmax_row(row, n, inner);
    rowv v[BLOCK];
    KEPT_CHUNKS(gradients)
    KEPT_CHUNKS(results)

    RowSum sum = EMPTY_SUM;
#define TERM(k, c, whole)                                    \
  v[k] = load_first(gradients, g, c, n, inner, 0.0f, whole); \
  if (!LOG) v[k] *= load_first(results, p, c, n, inner, 0.0f, whole);
    EACH_CHUNK(n, TERM, ADD)
    const rowf s = total_of(sum);

#define WRITE_GRADIENT(k, c, whole)                                                                                   \
  {                                                                                                                   \
    const rowv g_ = load_again(gradients, g, c, n, inner, 0.0f, whole);                                               \
    const rowv p_ = LOG ? load_chunk(p, c, n, inner, 0.0f, whole) : load_again(results, p, c, n, inner, 0.0f, whole); \
    store_chunk(LOG ? g_ - exp_below(p_) * s : p_ * (g_ - s), to, c, n, inner, whole);                                \
  }
    EACH_CHUNK(n, WRITE_GRADIENT, NOTHING)
  }
}
