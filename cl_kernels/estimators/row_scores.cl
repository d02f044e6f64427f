// Scores of classes or targets, and labels, from the sums of each row (rows, columns): score_row.h has the formulas.
//
// score_short_rows: on CPUs, for MOST_COLUMNS at most, with KIND 0, or with KIND 1, 2 and 5 and TRANSFORM 0 or 1.
#ifndef SHORT
#define SHORT 0
#endif
#include "estimators/score_row.h"

#if SHORT
#define VW 8
#include "estimators/score_rows.h"

CPU_KERNEL void score_short_rows(__global const float* restrict sums, const ulong sums_offset,
                                 __global const float* restrict base, const ulong base_offset,
                                 __global const long* restrict labels, const ulong labels_offset,
                                 __global float* restrict y, const ulong y_offset, __global long* restrict label,
                                 const ulong label_offset, const long rows, const long columns, const float scale,
                                 const int has_base, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  const long width = KIND == 0 ? columns : 2;
  for (long row = first; row < end; row += VW) {
    const int count = (int)min((long)VW, end - row);
    floatv s[MOST_COLUMNS];
    intv named[MOST_COLUMNS];
    for (int c = 0; c < columns; ++c) {
      const floatv sum = load_column(sums + sums_offset + row * columns + c, count, (int)columns);
      named[c] = has_base ? (intv)(-1) : as_intv(sum) ^ as_intv((floatv)(-0.0f));
      s[c] = sum * scale + (has_base ? base[base_offset + c] : 0.0f);
    }
    score_rows(s, named, count, (int)columns, y + y_offset + row * width, label + label_offset + row,
               labels + labels_offset);
  }
}
#else
__kernel void row_scores(__global const float* restrict sums, const ulong sums_offset,
                         __global const float* restrict base, const ulong base_offset,
                         __global const long* restrict labels, const ulong labels_offset, __global float* restrict y,
                         const ulong y_offset, __global long* restrict label, const ulong label_offset,
                         const long rows, const long columns, const float scale, const int has_base,
                         const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  const long width = KIND == 0 ? columns : 2;
  for (long row = first; row < end; ++row)
    score_row(sums + sums_offset + row * columns, y + y_offset + row * width, label + label_offset + row,
              labels + labels_offset, base + base_offset, has_base, scale, columns);
}
#endif
