// y[i, c] = 1 where index[i] == c, else 0; i < rows, c < classes. A work-item writes the elements first … first + chunk
// - 1 of y, counted row by row. A label outside [0, classes) is noted. T is a whole number of the size of y's elements,
// and ONE the bits of 1.
#include "index/index.h"
#ifndef T
#define T long
#endif
#ifndef ONE
#define ONE 1
#endif

__kernel void one_hot(__global const INDEX* restrict index, const ulong index_offset, __global T* restrict y,
                      const ulong y_offset, const long elements, const long classes, const long chunk, FAULT_PARAMETERS) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, elements);
  if (first >= end) return;
  long row = first / classes;
  long c = first % classes;
  for (long i = first; i < end;) {
    const long label = index[index_offset + row];
    if (!IS_INDEX(label, classes)) NOTE_WRONG(label, classes);
    const long stop = min(i + classes - c, end);
    for (; i < stop; ++i, ++c) y[y_offset + i] = c == label ? (T)ONE : (T)0;
    c = 0;
    ++row;
  }
}
