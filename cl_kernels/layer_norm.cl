// Layer normalisation of rows of n elements, contiguous. With x^ = (x - mean) rstd of a row
//
//   y = x^ w + b                             w = 1 without weight, b = 0 without bias
//   dx = rstd (g - mean(g) - x^ mean(g x^)),  g = dy w
//   dweight = sum over rows of dy x^,  dbias = sum over rows of dy
//
// The sums over rows go down columns: a work-item takes a chunk of columns and a part of COLUMN_ROWS rows, partial
// results are [part][2][n]; then one work-item to a column adds the parts.
#include "common/rows.h"
#ifndef COLUMN_ROWS
#define COLUMN_ROWS 64
#endif

// affine: 1 for a weight, 2 for a bias.
__kernel void layer_norm_forward(__global const float* restrict x, ulong x_offset, __global const float* weight,
                                 ulong weight_offset, __global const float* bias, ulong bias_offset,
                                 __global float* restrict y, ulong y_offset, __global float* restrict mean,
                                 ulong mean_offset, __global float* restrict rstd, ulong rstd_offset, long rows, long n,
                                 float epsilon, int affine) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(rows);
  const long row = ROW_ID;
  x += x_offset + row * n;
  y += y_offset + row * n;
  weight += weight_offset;
  bias += bias_offset;
  BlockSum sum = EMPTY_SUM;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) block_add(&sum, load_chunk(x, c, n, 1, 0.0f));
  const float m = block_total(sum) / n;
  BlockSum squares = EMPTY_SUM;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    const rowv d = load_chunk(x, c, n, 1, m) - m;
    block_add(&squares, d * d);
  }
  const float inverse = 1.0f / sqrt(block_total(squares) / n + epsilon);
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    rowv v = (load_chunk(x, c, n, 1, 0.0f) - m) * inverse;
    if (affine & 1) v *= load_chunk(weight, c, n, 1, 0.0f);
    if (affine & 2) v += load_chunk(bias, c, n, 1, 0.0f);
    store_chunk(v, y, c, n, 1);
  }
  if (LANE_ID != 0) return;
  mean[mean_offset + row] = m;
  rstd[rstd_offset + row] = inverse;
}

__kernel void layer_norm_backward(__global const float* restrict dy, ulong dy_offset, __global const float* restrict x,
                                  ulong x_offset, __global const float* weight, ulong weight_offset,
                                  __global const float* restrict mean, ulong mean_offset,
                                  __global const float* restrict rstd, ulong rstd_offset, __global float* restrict dx,
                                  ulong dx_offset, long rows, long n, int affine) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(rows);
  const long row = ROW_ID;
  dy += dy_offset + row * n;
  x += x_offset + row * n;
  dx += dx_offset + row * n;
  weight += weight_offset;
  const float m = mean[mean_offset + row];
  const float inverse = rstd[rstd_offset + row];
  BlockSum sum = EMPTY_SUM;
  BlockSum products = EMPTY_SUM;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    rowv g = load_chunk(dy, c, n, 1, 0.0f);
    if (affine & 1) g *= load_chunk(weight, c, n, 1, 0.0f);
    block_add(&sum, g);
    block_add(&products, g * (load_chunk(x, c, n, 1, m) - m));
  }
  const float level = block_total(sum) / n;
  const float slope = block_total(products) * inverse * inverse / n;
  for (long c = LANE_ID; c < CHUNKS(n); c += GROUP) {
    rowv g = load_chunk(dy, c, n, 1, 0.0f);
    if (affine & 1) g *= load_chunk(weight, c, n, 1, 0.0f);
    const rowv d = load_chunk(x, c, n, 1, 0.0f) - m;
    store_chunk((g - level - d * slope) * inverse, dx, c, n, 1);
  }
}

__kernel void layer_norm_columns(__global const float* restrict dy, ulong dy_offset, __global const float* restrict x,
                                 ulong x_offset, __global const float* restrict mean, ulong mean_offset,
                                 __global const float* restrict rstd, ulong rstd_offset,
                                 __global float* restrict partial, ulong partial_offset, long rows, long n) {
  const long chunk = get_global_id(0);
  const long part = get_global_id(1);
  if (chunk >= CHUNKS(n)) return;
  rowv products = 0.0f;
  rowv sum = 0.0f;
  for (long row = part * COLUMN_ROWS; row < min((part + 1) * COLUMN_ROWS, rows); ++row) {
    const rowv g = load_chunk(dy + dy_offset + row * n, chunk, n, 1, 0.0f);
    sum += g;
    products += g * (load_chunk(x + x_offset + row * n, chunk, n, 1, 0.0f) - mean[mean_offset + row]) *
                rstd[rstd_offset + row];
  }
  partial += partial_offset + 2 * part * n;
  store_chunk(products, partial, chunk, n, 1);
  store_chunk(sum, partial + n, chunk, n, 1);
}

__kernel void layer_norm_columns_total(__global const float* restrict partial, ulong partial_offset,
                                       __global float* restrict dweight, ulong dweight_offset,
                                       __global float* restrict dbias, ulong dbias_offset, long parts, long n) {
  const long column = get_global_id(0);
  if (column >= n) return;
  partial += partial_offset + column;
  ExactSum products = {0.0f, 0.0f};
  ExactSum sum = {0.0f, 0.0f};
  for (long part = 0; part < parts; ++part) {
    exact_add(&products, partial[2 * part * n]);
    exact_add(&sum, partial[(2 * part + 1) * n]);
  }
  dweight[dweight_offset + column] = exact_total(&products);
  dbias[dbias_offset + column] = exact_total(&sum);
}
