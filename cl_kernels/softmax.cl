// Softmax (LOG 0) or log-softmax (LOG 1) along one axis, forward and backward. With m = max x, s = sum exp(x - m) of a
// row:
//
//   softmax:      y = exp(x - m) / s         dx = y (dy - sum dy y)
//   log-softmax:  y = (x - m) - log s        dx = dy - exp(y) sum dy
//
// A tensor is (outer, n, inner), contiguous; row r = (outer o, inner i) begins at o n inner + i and its neighbours are
// `inner` apart. A row of -inf alone gives NaN, as does one with +inf or NaN.
#include "common/rows.h"
#ifndef LOG
#define LOG 0
#endif

inline long softmax_row(long row, long n, long inner) { return row / inner * n * inner + row % inner; }

__kernel void softmax_forward(__global const float* restrict x, ulong x_offset, __global float* restrict y,
                              ulong y_offset, long rows, long n, long inner) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(rows);
  const long row = ROW_ID;
  x += x_offset + softmax_row(row, n, inner);
  y += y_offset + softmax_row(row, n, inner);
  rowv highest = -INFINITY;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) highest = fmax(highest, load_chunk(x, c, n, inner, -INFINITY));
  const float m = row_max(highest);
  BlockSum sum = EMPTY_SUM;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) block_add(&sum, exp(load_chunk(x, c, n, inner, -INFINITY) - m));
  const float s = block_total(sum);
  const float log_s = log(s);
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    const rowv v = load_chunk(x, c, n, inner, 0.0f) - m;
    store_chunk(LOG ? v - log_s : exp(v) / s, y, c, n, inner);
  }
}

__kernel void softmax_backward(__global const float* restrict dy, ulong dy_offset, __global const float* restrict y,
                               ulong y_offset, __global float* restrict dx, ulong dx_offset, long rows, long n,
                               long inner) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(rows);
  const long row = ROW_ID;
  dy += dy_offset + softmax_row(row, n, inner);
  y += y_offset + softmax_row(row, n, inner);
  dx += dx_offset + softmax_row(row, n, inner);
  BlockSum sum = EMPTY_SUM;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    const rowv g = load_chunk(dy, c, n, inner, 0.0f);
    block_add(&sum, LOG ? g : g * load_chunk(y, c, n, inner, 0.0f));
  }
  const float s = block_total(sum);
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    const rowv g = load_chunk(dy, c, n, inner, 0.0f);
    const rowv v = load_chunk(y, c, n, inner, 0.0f);
    store_chunk(LOG ? g - exp(v) * s : v * (g - s), dx, c, n, inner);
  }
}
