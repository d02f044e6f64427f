// What linear_scores.cl gives for few columns, on CPUs, with KIND 0, or with KIND 1, 2 and 5 and TRANSFORM 0 or 1. The
// lanes are features first, and a column's lanes are added up for VW rows at once. weight (columns, features), bias
// (columns).
#define VW 8
#define MARKS_ABSENT 0
#include "estimators/score_rows.h"
#include "common/row_products.h"
#ifndef SCORES
#define SCORES 1
#endif

CPU_KERNEL void linear_score(__global const float* restrict x, const ulong x_offset, __global const float* restrict weight,
                             const ulong weight_offset, __global const float* restrict bias, const ulong bias_offset,
                             __global const long* restrict labels, const ulong labels_offset, __global float* restrict y,
                             const ulong y_offset, __global long* restrict label, const ulong label_offset,
                             const long rows, const long features, const int columns, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  const long width = KIND == 0 ? columns : 2;
  for (long row = first; row < end; row += VW) {
    const int count = (int)min((long)VW, end - row);
    __global const float* from[VW];
    UNROLL
    for (int r = 0; r < VW; ++r)
      from[r] = x + x_offset + min(row + r, end - 1) * features;  // A row behind the last one is that one.
    floatv s[MOST_COLUMNS];
    for (int c = 0; c < columns; ++c)
      s[c] = row_products(from, weight + weight_offset + c * features, features) + bias[bias_offset + c];
#if SCORES
    score_rows(s, 0, count, columns, y + y_offset + row * width, label + label_offset + row, labels + labels_offset);
#else
    store_columns(s, y + y_offset + row * width, count, columns);
#endif
  }
}
