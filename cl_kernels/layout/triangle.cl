// y[b, i, j] = x[b, i, j] where j - i <= diagonal (tril) or j - i >= diagonal (triu), else 0, for matrices of (height,
// width). Elements are moved as the type ELEMENT; zero has the same bits in all dtypes. A work-item writes the elements
// first … first + chunk - 1 of y, counted row by row.
#ifndef ELEMENT
#define ELEMENT uint
#endif

__kernel void triangle(__global const ELEMENT* restrict x, const ulong x_offset, __global ELEMENT* restrict y,
                       const ulong y_offset, const long elements, const long height, const long width,
                       const long diagonal, const int upper, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, elements);
  if (first >= end) return;
  x += x_offset;
  y += y_offset;
  long row = first / width;
  long j = first % width;
  for (long i = first; i < end; ++row, j = 0) {
    const long stop = min(i + width - j, end);
    // tril keeps the row's elements before `edge`, and triu keeps the elements from `edge` on.
    const long edge = clamp(i - j + row % height + diagonal + (upper ? 0 : 1), i, stop);
    for (; i < edge; ++i) y[i] = upper ? 0 : x[i];
    for (; i < stop; ++i) y[i] = upper ? x[i] : 0;
  }
}
