// Scores of classes or targets, and labels, from the sums of each row (rows, columns): score_row.h has the formulas.
#include "estimators/score_row.h"

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
