// Makes the rows of decompositions (decompose/rows.h) from matrices x, contiguous (batch, n, m). A row of y has
// `length` elements: first the row of x times a power of two, and from `start` on the row of the unit matrix. The power
// brings the largest magnitude of each matrix, `largest` (batch), between 1 and 2, so that squares neither overflow nor
// vanish. scales (batch) gets the opposite powers. A matrix that contains NaN or infinity becomes NaN as a whole.
//
// SYMMETRIC: m is n, and elements above the diagonal are copied from those below it.
#include "common/real.h"
#ifndef SYMMETRIC
#define SYMMETRIC 0
#endif

__kernel void load_rows(__global const REAL* restrict x, const ulong x_offset, __global const REAL* restrict largest,
                        const ulong largest_offset, __global REAL* restrict y, const ulong y_offset,
                        __global REAL* restrict scales, const ulong scales_offset, const long elements, const long n,
                        const long m, const long start, const long length) {
  const long i = get_global_id(0);
  if (i >= elements) return;
  const long column = i % length, row = i / length % n, matrix = i / length / n;
  const REAL top = largest[largest_offset + matrix];
  const bool usable = top <= REAL_MAX;  // False for NaN too.
  const int power = usable && top > 0.0f ? clamp(ilogb(top), -REAL_EXPONENT, REAL_EXPONENT) : 0;
  REAL value = 0.0f;
  if (column < m) {
    const long from = SYMMETRIC ? max(row, column) * m + min(row, column) : row * m + column;
    value = ldexp(x[x_offset + matrix * n * m + from], -power);
  } else if (column >= start) {
    value = column - start == row ? 1.0f : 0.0f;
  }
  y[y_offset + i] = usable ? value : NAN;
  if (row == 0 && column == 0) scales[scales_offset + matrix] = ldexp((REAL)1.0f, power);
}
