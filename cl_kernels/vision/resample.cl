// Weighted sums along one axis: resizing an image, and its gradient with the transposed table.
//
//   y[o, j, i] = sum over e from starts[j] to starts[j + 1] - 1 of weights[e] * x[o, indices[e], i]
//
// x is (outer, size, inner), y (outer, count, inner), both of STORED. `table` holds starts[0 … count], then all
// indices, and then the bits of all weights.
//
//   resample_elements  GPU: a work-item makes one element
//   resample_rows      CPU: a work-item makes successive rows of `run` elements, by vectors; a row is a pair (o, j), or
//                      a part of it with `blocks` > 1 (run * blocks >= inner)
//   resample_lines     CPU: for inner 1; a work-item makes successive elements
#include "common/lanes.h"

#define RESAMPLE_PARAMETERS                                                                                       \
  __global const STORED *restrict x, const ulong x_offset, __global const int *restrict table,                         \
      const ulong table_offset, __global STORED *restrict y, const ulong y_offset, const long outer, const int count,  \
      const long size, const long inner
#define RESAMPLE_ARGUMENTS x, x_offset, table, table_offset, y, y_offset, outer, count, size, inner

__kernel void resample_elements(RESAMPLE_PARAMETERS) {
  const long i = get_global_id(0);
  if (i >= outer * count * inner) return;
  table += table_offset;
  const long row = i / inner;
  const int j = (int)(row % count);
  __global const int* indices = table + count + 1;
  __global const int* weights = indices + table[count];
  x += x_offset + row / count * size * inner + i % inner;
  float sum = 0.0f;
  for (int e = table[j]; e < table[j + 1]; ++e) sum += as_float(weights[e]) * LOAD(STORED, x, indices[e] * inner);
  STORE(STORED, y, y_offset + i, sum);
}

CPU_KERNEL void resample_rows(RESAMPLE_PARAMETERS, const long run, const long blocks) {
  const long units = outer * count * blocks;
  const long first = units * (long)get_global_id(0) / (long)get_global_size(0);
  const long end = units * ((long)get_global_id(0) + 1) / (long)get_global_size(0);
  table += table_offset;
  __global const int* indices = table + count + 1;
  __global const int* weights = indices + table[count];
  for (long unit = first; unit < end; ++unit) {
    const long row = unit / blocks;
    const long column = unit % blocks * run;
    const int j = (int)(row % count);
    const long n = min(run, inner - column);
    __global const STORED* from = x + x_offset + row / count * size * inner + column;
    __global STORED* to = y + y_offset + row * inner + column;
    // The last vector begins earlier, so that it ends with the row. Some elements are then computed twice.
    for (long c = 0; c < n; c += VW) {
      const long at = n >= VW ? min(c, n - VW) : 0;
      const int lanes = (int)min(n, (long)VW);
      floatv sum = (floatv)(0.0f);
      for (int e = table[j]; e < table[j + 1]; ++e)
        sum += as_float(weights[e]) * load_elements(from + indices[e] * inner + at, lanes);
      store_elements(sum, lanes, to + at);
    }
  }
}

CPU_KERNEL void resample_lines(RESAMPLE_PARAMETERS) {
  const long units = outer * count;
  const long first = units * (long)get_global_id(0) / (long)get_global_size(0);
  const long end = units * ((long)get_global_id(0) + 1) / (long)get_global_size(0);
  if (first == end) return;
  table += table_offset;
  __global const int* indices = table + count + 1;
  __global const int* weights = indices + table[count];
  x += x_offset + first / count * size;
  y += y_offset;
  int j = (int)(first % count);
  int e = table[j];
  for (long i = first; i < end; ++i) {
    const int stop = table[j + 1];
    float sum = 0.0f;
    for (; e < stop; ++e) sum += as_float(weights[e]) * LOAD(STORED, x, indices[e]);
    STORE(STORED, y, i, sum);
    if (++j < count) continue;
    j = 0;
    e = 0;
    x += size;
  }
}
