// Linear models with few results: sums (rows, columns) = x (rows, features) · weight + bias, and with SCORES the scores and
// labels of the rows (score_row.h).
//
// weight (features, VW) and bias (VW) have 0 after the last column. A work-item takes the rows first … first + chunk -
// 1. It takes ROWS rows at once, which share the reads of the weight.
#include "common/unroll.h"
#include "common/vector.h"
#include "estimators/score_row.h"
#ifndef ROWS
#define ROWS 8
#endif
#ifndef SCORES
#define SCORES 1
#endif

VECTOR_KERNEL void linear_scores(__global const float* restrict x, const ulong x_offset,
                                 __global const float* restrict weight, const ulong weight_offset,
                                 __global const float* restrict bias, const ulong bias_offset,
                                 __global const long* restrict labels, const ulong labels_offset,
                                 __global float* restrict sums, const ulong sums_offset, __global float* restrict y,
                                 const ulong y_offset, __global long* restrict label, const ulong label_offset,
                                 const long rows, const long features, const long columns, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  const floatv start = vloadv(0, bias + bias_offset);
  for (long row = first; row < end; row += ROWS) {
    const long count = min((long)ROWS, end - row);
    floatv sum[ROWS];
    __global const float* from[ROWS];
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      sum[r] = start;
      from[r] = x + x_offset + min(row + r, end - 1) * features;  // Rows after the last one are replaced by the last
                                                                  // one.
    }
    for (long f = 0; f < features; ++f) {
      const floatv w = vloadv(f, weight + weight_offset);
      UNROLL
      for (int r = 0; r < ROWS; ++r) sum[r] = FMA((floatv)from[r][f], w, sum[r]);
    }
    for (int r = 0; r < ROWS; ++r) {
      if (r >= count) break;
      float lanes[VW];
      vstorev(sum[r], 0, lanes);
      __global float* to = sums + sums_offset + (row + r) * columns;
      for (long i = 0; i < columns; ++i) to[i] = lanes[i];
#if SCORES
      score_row(to, y + y_offset + (row + r) * (KIND == 0 ? columns : 2), label + label_offset + row + r,
                labels + labels_offset, to, 0, 1.0f, columns);
#endif
    }
  }
}
