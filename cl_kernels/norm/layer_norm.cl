// Layer normalisation of contiguous rows of n elements of STORED. With x^ = (x - mean) rstd of a row:
//
//   y = x^ w + b                             w = 1 without weight, b = 0 without bias
//   dx = rstd (g - mean(g) - x^ mean(g x^)),  g = dy w
//   dweight = sum over rows of dy x^,  dbias = sum over rows of dy
//
// The sums over rows go down columns, in parts of `part_rows` rows. Partial results are [part][2][n]. One work-item for
// each column adds the parts. With WITH_COLUMNS, layer_norm_backward also computes the partial results, so that dy and x
// are read from memory once. Otherwise layer_norm_columns computes them, with one work-item for each column of a part.
#include "norm/parameters.h"
#include "rowwise/rows.h"
#define WITH_COLUMNS (VW > 1 && !ROW_LANES)

// The type of w and b in memory. load_parameters is load_shared for elements of this type.
#ifndef PARAMETER
#define PARAMETER float
#define load_parameters load_shared
#elif ROW_LANES
#define load_parameters(p, c, n, whole) (rowv)(LOAD(PARAMETER, p, c))
#else
ROW_ACCESS(load_some_parameters, store_parameters, PARAMETER)
#define load_parameters(p, c, n, whole) load_some_parameters(p, c, n, 1, 0.0f, whole)
#endif

// `affine` holds AffineFlags.
EACH_ROW_KERNEL void layer_norm_forward(__global const STORED* restrict x, ulong x_offset,
                                 __global const PARAMETER* weight, ulong weight_offset, __global const PARAMETER* bias,
                                 ulong bias_offset,
                                 __global STORED* restrict y, ulong y_offset, __global float* restrict mean,
                                 ulong mean_offset, __global float* restrict rstd, ulong rstd_offset, long rows, long n,
                                 float epsilon, int affine) {
  ROW_SCRATCH;
  weight += weight_offset;
  bias += bias_offset;
  EACH_ROW(row, rows) {
    const int live = live_rows(row, rows, 1);
    __global const STORED* from = x + x_offset + row * n;
    __global STORED* to = y + y_offset + row * n;
    rowv v[BLOCK];
    KEPT_CHUNKS(kept)
#define ADD(count) ADD_BLOCK(sum, v, count)

    RowSum sum = EMPTY_SUM;
#define READ(k, c, whole) v[k] = load_first(kept, from, c, n, 1, 0.0f, whole);
    EACH_CHUNK(n, READ, ADD)
    const rowf m = total_of(sum) / n;

    sum.total = sum.lost = 0.0f;
#define SQUARE(k, c, whole)                                       \
  {                                                               \
    const rowv d = load_again(kept, from, c, n, 1, m, whole) - m; \
    v[k] = d * d;                                                 \
  }
    EACH_CHUNK(n, SQUARE, ADD)
    const rowf inverse = 1.0f / sqrt(total_of(sum) / n + epsilon);

#define WRITE(k, c, whole)                                                  \
  {                                                                         \
    rowv y_ = (load_again(kept, from, c, n, 1, 0.0f, whole) - m) * inverse; \
    if (affine & AFFINE_WEIGHT) y_ *= load_parameters(weight, c, n, whole);     \
    if (affine & AFFINE_BIAS) y_ += load_parameters(bias, c, n, whole);         \
    store_chunk(y_, to, c, n, 1, whole);                                    \
  }
    EACH_CHUNK(n, WRITE, NOTHING)
    if (LANE_ID == 0) {
      store_each(m, mean + mean_offset + row, live);
      store_each(inverse, rstd + rstd_offset + row, live);
    }
  }
}

// Adds a row to the sums of a part. With `first`, the sums start with this row.
INLINE void add_to_columns(const rowv g, const rowv x_hat, __global float* products, __global float* sums, const long c,
                           const long n, const int first, const int whole) {
  rowv product = g * x_hat, sum = g;
  if (!first) {
    product += load_floats(products, c, n, 1, 0.0f, whole);
    sum += load_floats(sums, c, n, 1, 0.0f, whole);
  }
  store_floats(product, products, c, n, 1, whole);
  store_floats(sum, sums, c, n, 1, whole);
}

// An item takes a part with WITH_COLUMNS. `columns` says whether this kernel then computes `partial`.
EACH_ROW_KERNEL void layer_norm_backward(
    __global const STORED* restrict dy, ulong dy_offset, __global const STORED* restrict x, ulong x_offset,
    __global const PARAMETER* weight, ulong weight_offset, __global const float* restrict mean, ulong mean_offset,
    __global const float* restrict rstd, ulong rstd_offset, __global STORED* restrict dx, ulong dx_offset,
    __global float* partial, ulong partial_offset, long rows, long n, long part_rows, int affine, int columns) {
  ROW_SCRATCH;
  weight += weight_offset;
#if WITH_COLUMNS
  EACH_ROW(part, (rows + part_rows - 1) / part_rows)
  for (long row = part * part_rows; row < min((part + 1) * part_rows, rows); ++row) {
    __global float* products = partial + partial_offset + 2 * part * n;
    const int first = row == part * part_rows;
#else
  EACH_ROW(row, rows) {
#endif
    __global const STORED* g = dy + dy_offset + row * n;
    __global const STORED* from = x + x_offset + row * n;
    __global STORED* to = dx + dx_offset + row * n;
    const int live = live_rows(row, rows, 1);
    const rowf m = load_each(mean + mean_offset + row, live);
    const rowf inverse = load_each(rstd + rstd_offset + row, live);
    rowv v[BLOCK], w[BLOCK];
    KEPT_CHUNKS(gradients)
    KEPT_CHUNKS(inputs)
    RowSum sum = EMPTY_SUM, products_sum = EMPTY_SUM;
#define TERMS(k, c, whole)                                              \
  v[k] = load_first(gradients, g, c, n, 1, 0.0f, whole);                \
  if (affine & AFFINE_WEIGHT) v[k] *= load_parameters(weight, c, n, whole); \
  w[k] = v[k] * (load_first(inputs, from, c, n, 1, m, whole) - m);
#define ADD_TERMS(count)      \
  ADD_BLOCK(sum, v, count)    \
  ADD_BLOCK(products_sum, w, count)
    EACH_CHUNK(n, TERMS, ADD_TERMS)
    const rowf level = total_of(sum) / n;
    const rowf slope = total_of(products_sum) * inverse / n;

#if WITH_COLUMNS
#define ADD_TO_COLUMNS(c, whole) \
  if (columns) add_to_columns(g_, x_hat, products, products + n, c, n, first, whole);
#else
#define ADD_TO_COLUMNS(c, whole)
#endif
#define WRITE_GRADIENT(k, c, whole)                                                    \
  {                                                                                    \
    const rowv g_ = load_again(gradients, g, c, n, 1, 0.0f, whole);                    \
    const rowv x_hat = (load_again(inputs, from, c, n, 1, 0.0f, whole) - m) * inverse; \
    rowv dx_ = g_;                                                                     \
    if (affine & AFFINE_WEIGHT) dx_ *= load_parameters(weight, c, n, whole);               \
    store_chunk((dx_ - level - x_hat * slope) * inverse, to, c, n, 1, whole);          \
    ADD_TO_COLUMNS(c, whole)                                                           \
  }
    EACH_CHUNK(n, WRITE_GRADIENT, NOTHING)
  }
}

#if !WITH_COLUMNS
ROW_KERNEL void layer_norm_columns(__global const STORED* restrict dy, ulong dy_offset,
                                 __global const STORED* restrict x, ulong x_offset,
                                 __global const float* restrict mean, ulong mean_offset,
                                 __global const float* restrict rstd, ulong rstd_offset,
                                 __global float* restrict partial, ulong partial_offset, long rows, long n, long part_rows) {
  const long column = get_global_id(0);
  const long part = get_global_id(1);
  if (column >= n) return;
  float products = 0.0f, sum = 0.0f;
  for (long row = part * part_rows; row < min((part + 1) * part_rows, rows); ++row) {
    const float g = LOAD(STORED, dy, dy_offset + row * n + column);
    sum += g;
    products += g * (LOAD(STORED, x, x_offset + row * n + column) - mean[mean_offset + row]) * rstd[rstd_offset + row];
  }
  partial += partial_offset + 2 * part * n + column;
  partial[0] = products;
  partial[n] = sum;
}
#endif

ROW_KERNEL void layer_norm_columns_total(__global const float* restrict partial, ulong partial_offset,
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
