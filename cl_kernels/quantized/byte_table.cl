// y[i] = table[x[i]] for bytes x. A signed byte counts as the unsigned byte with its bits. A work-item writes the
// elements first … first + chunk - 1. T is a whole number of the size of y's elements.
#include "common/inline.h"
#ifndef T
#define T uchar
#endif

__kernel void look_up_bytes(__global const uchar* restrict x, const ulong x_offset, __global const T* restrict table,
                            const ulong table_offset, __global T* restrict y, const ulong y_offset, const long elements,
                            const long chunk) {
  long i = get_global_id(0) * chunk;
  const long end = min(i + chunk, elements);
  x += x_offset;
  table += table_offset;
  y += y_offset;
  for (; i + 8 <= end; i += 8) {
    const uchar8 q = vload8(0, x + i);
    y[i] = table[q.s0], y[i + 1] = table[q.s1], y[i + 2] = table[q.s2], y[i + 3] = table[q.s3];
    y[i + 4] = table[q.s4], y[i + 5] = table[q.s5], y[i + 6] = table[q.s6], y[i + 7] = table[q.s7];
  }
  for (; i < end; ++i) y[i] = table[x[i]];
}
