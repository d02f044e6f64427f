// Repeats the elements of images: y[o, i, j] = x[o, i / down, j / across]. x is (images, height, width). All rows of
// all images count as `rows` rows. Each row of x becomes `down` successive rows of y.
//
//   enlarge_elements  GPU: a work-item makes one element of y
//   enlarge_rows      CPU: a work-item takes successive rows of x
//
// ELEMENT: a type with the size of the elements.
#include "common/vector.h"
#ifndef ELEMENT
#define ELEMENT uint
#endif

#define ENLARGE_PARAMETERS                                                                                         \
  __global const ELEMENT *restrict x, const ulong x_offset, __global ELEMENT *restrict y, const ulong y_offset,     \
      const long rows, const long width, const int down, const int across
#define ENLARGE_ARGUMENTS x, x_offset, y, y_offset, rows, width, down, across

#define elementv JOIN(ELEMENT, VW)

__kernel void enlarge_elements(ENLARGE_PARAMETERS) {
  const long i = get_global_id(0);
  const long columns = width * across;
  if (i >= rows * down * columns) return;
  y[y_offset + i] = x[x_offset + i / columns / down * width + i % columns / across];
}

CPU_KERNEL void enlarge_rows(ENLARGE_PARAMETERS) {
  const long columns = width * across;
  const long first = rows * (long)get_global_id(0) / (long)get_global_size(0);
  const long end = rows * ((long)get_global_id(0) + 1) / (long)get_global_size(0);
  for (long row = first; row < end; ++row) {
    __global const ELEMENT* from = x + x_offset + row * width;
    __global ELEMENT* to = y + y_offset + row * down * columns;
    long j = 0;
    if (across == 2)
      for (; j + VW <= width; j += VW) {
        const elementv v = vloadv(0, from + j);
        elementv twice;
        twice.even = v.lo;
        twice.odd = v.lo;
        vstorev(twice, 0, to + 2 * j);
        twice.even = v.hi;
        twice.odd = v.hi;
        vstorev(twice, 0, to + 2 * j + VW);
      }
    for (; j < width; ++j)
      for (int s = 0; s < across; ++s) to[j * across + s] = from[j];
    for (int r = 1; r < down; ++r) {
      __global ELEMENT* copy = to + r * columns;
      long c = 0;
      for (; c + VW <= columns; c += VW) vstorev(vloadv(0, to + c), 0, copy + c);
      for (; c < columns; ++c) copy[c] = to[c];
    }
  }
}
