// What linear_scores.cl gives for few columns, on CPUs, with KIND 0, or with KIND 1, 2 and 5 and TRANSFORM 0 or 1. The
// lanes are features first, and a column's lanes are added up for VW rows at once. weight (columns, features), bias
// (columns).
#define VW 8
#define MARKS_ABSENT 0
#include "estimators/score_rows.h"
#ifndef SCORES
#define SCORES 1
#endif

// The sum of neighbours: those of a, and then those of b.
#define NEIGHBOURS(a, b) ((floatv)((a).even + (a).odd, (b).even + (b).odd))

// The products of the rows with a column of the weight.
INLINE floatv products(__global const float* const* from, __global const float* w, const long features) {
  floatv sum[VW];
  UNROLL
  for (int r = 0; r < VW; ++r) sum[r] = 0.0f;
  long f = 0;
  for (; f + VW <= features; f += VW) {
    const floatv at = vloadv(0, w + f);
    UNROLL
    for (int r = 0; r < VW; ++r) sum[r] = FMA(vloadv(0, from[r] + f), at, sum[r]);
  }
  if (f + 4 <= features) {
    const float4 at = vload4(0, w + f);
    UNROLL
    for (int r = 0; r < VW; ++r) sum[r].lo = FMA(vload4(0, from[r] + f), at, sum[r].lo);
    f += 4;
  }
  for (; f < features; ++f) {
    UNROLL
    for (int r = 0; r < VW; ++r) sum[r].s0 = FMA(from[r][f], w[f], sum[r].s0);
  }
  const floatv a = NEIGHBOURS(NEIGHBOURS(sum[0], sum[1]), NEIGHBOURS(sum[2], sum[3]));
  const floatv b = NEIGHBOURS(NEIGHBOURS(sum[4], sum[5]), NEIGHBOURS(sum[6], sum[7]));
  return NEIGHBOURS(a, b);
}

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
      s[c] = products(from, weight + weight_offset + c * features, features) + bias[bias_offset + c];
#if SCORES
    score_rows(s, 0, count, columns, y + y_offset + row * width, label + label_offset + row, labels + labels_offset);
#else
    store_columns(s, y + y_offset + row * width, count, columns);
#endif
  }
}
