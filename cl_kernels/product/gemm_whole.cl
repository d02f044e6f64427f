// Products of matrices of integers or doubles: y[p, i, j] = sum over k of a[p, i, k] b[p, k, j]. The sums have the type
// U. For integers it is unsigned, so overflow wraps around.
//
// y (products, rows, columns) is contiguous, and so are the rows of b. a has any strides. The products have p.axes axes
// with the given sizes, along which a and b have the given strides. A work-item computes a block of ROWS rows and
// COLUMNS columns. Neighbouring work-items have neighbouring columns. One launch adds the terms first <= k < end,
// because a device may limit the iterations of a loop.
#include "product/parameters.h"

#ifndef T
#define T int
#endif
#ifndef U
#define U uint
#endif
#ifndef ROWS
#define ROWS 4
#endif
#ifndef COLUMNS
#define COLUMNS 16
#endif

__kernel void multiply_whole(__global const T* restrict a, const ulong a_offset, __global const T* restrict b,
                             const ulong b_offset, __global T* restrict y, const ulong y_offset,
                             const WholeParameters p, const long first, const long end, const long8 sizes,
                             const long8 a_strides, const long8 b_strides) {
  const long id = get_global_id(0);
  if (id >= p.blocks) return;
  const long across = (p.columns + COLUMNS - 1) / COLUMNS;
  const long down = (p.rows + ROWS - 1) / ROWS;
  const long column = id % across * COLUMNS;
  const long row = id / across % down * ROWS;
  const long product = id / across / down;
  long size[8], a_stride[8], b_stride[8];
  vstore8(sizes, 0, size);
  vstore8(a_strides, 0, a_stride);
  vstore8(b_strides, 0, b_stride);
  a += a_offset;
  b += b_offset + column;
  y += y_offset + (product * p.rows + row) * p.columns + column;
  long rest = product;
  for (int axis = p.axes - 1; axis >= 0; --axis) {
    a += rest % size[axis] * a_stride[axis];
    b += rest % size[axis] * b_stride[axis];
    rest /= size[axis];
  }
  const int height = (int)min((long)ROWS, p.rows - row);
  const int width = (int)min((long)COLUMNS, p.columns - column);
  U sums[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; ++r)
    for (int c = 0; c < COLUMNS; ++c)
      sums[r][c] = first > 0 && r < height && c < width ? (U)y[r * p.columns + c] : (U)0;
  for (long k = first; k < end; ++k) {
    U right[COLUMNS];
    for (int c = 0; c < COLUMNS; ++c) right[c] = (U)b[k * p.b_row + min(c, width - 1)];
    for (int r = 0; r < ROWS; ++r) {
      const U left = (U)a[(row + min(r, height - 1)) * p.a_row + k * p.a_column];
      for (int c = 0; c < COLUMNS; ++c) sums[r][c] += left * right[c];
    }
  }
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) y[r * p.columns + c] = (T)sums[r][c];
}
