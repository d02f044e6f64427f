// Batch normalisation of x (images, channels, spatial), contiguous; statistics of a channel are over its
// M = images * spatial values.
//
//   y = (x - mean) invstd w + b              w = 1 without weight, b = 0 without bias
//   dbias = sum dy      dweight = sum dy (x - mean) invstd
//   dx = w invstd (dy - (dbias + (x - mean) invstd dweight) / M)    or w invstd dy where mean and invstd are constants
//
// The chunks of a channel are numbered through all images: chunk i is chunk i % K of image i / K, K = CHUNKS(spatial).
// Statistics take three steps: each part of PART_CHUNKS chunks of a channel by one group (groups side by side take
// channels side by side), then the parts of a channel by one work-item, then the elements. Partial results are
// [part][channel][2]. All parts take off the channel's first value, so that their means are small numbers: at an offset
// of 1000 deviations their rounding errors would be seen in the variance.
#include "common/rows.h"

// Walks through chunks GROUP apart: image n, chunk k in the image.
typedef struct {
  long n, k, step_n, step_k, per_image;
} Walk;

inline Walk walk_from(long chunk, long per_image) {
  Walk w = {chunk / per_image, chunk % per_image, GROUP / per_image, GROUP % per_image, per_image};
  return w;
}

inline void walk_on(Walk* w) {
  w->n += w->step_n;
  w->k += w->step_k;
  if (w->k >= w->per_image) {
    w->k -= w->per_image;
    ++w->n;
  }
}

// Elements of a channel before a chunk.
inline long elements_before(long chunk, long per_image, long spatial) {
  return chunk / per_image * spatial + min(chunk % per_image * VW, spatial);
}

// Elements of part p.
inline long part_size(long p, long images, long spatial) {
  const long k = CHUNKS(spatial);
  return elements_before(min((p + 1) * PART_CHUNKS, images * k), k, spatial) -
         elements_before(p * PART_CHUNKS, k, spatial);
}

// x - base - mean; 0 in the lanes past the end.
inline rowv load_distance(__global const float* row, long chunk, long n, float base, float mean) {
  const rowv d = load_chunk(row, chunk, n, 1, base) - base - mean;
#if VW > 1
  if ((chunk + 1) * VW > n) {
    float lanes[VW];
    ROW_JOIN(vstore, VW)(d, 0, lanes);
    for (int i = 0; i < VW; ++i) lanes[i] = chunk * VW + i < n ? lanes[i] : 0.0f;
    return ROW_JOIN(vload, VW)(0, lanes);
  }
#endif
  return d;
}

// Per part the mean, less the channel's first value, and the sum of squared distances from it.
__kernel void batch_norm_moments(__global const float* restrict x, ulong x_offset, __global float* restrict partial,
                                 ulong partial_offset, long images, long channels, long spatial) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(channels);
  const long channel = ROW_ID;
  const long part = get_global_id(1);
  const long per_image = CHUNKS(spatial);
  const long first = part * PART_CHUNKS + LANE_ID;
  const long end = min((part + 1) * PART_CHUNKS, images * per_image);
  x += x_offset + channel * spatial;
  const float base = x[0];
  rowv sum = 0.0f;
  Walk w = walk_from(first, per_image);
  for (long i = first; i < end; i += GROUP, walk_on(&w))
    sum += load_chunk(x + w.n * channels * spatial, w.k, spatial, 1, base) - base;
  const float mean = row_sum(sum) / part_size(part, images, spatial);
  rowv squares = 0.0f;
  w = walk_from(first, per_image);
  for (long i = first; i < end; i += GROUP, walk_on(&w)) {
    const rowv d = load_distance(x + w.n * channels * spatial, w.k, spatial, base, mean);
    squares += d * d;
  }
  const float all = row_sum(squares);
  if (LANE_ID != 0) return;
  partial += partial_offset + 2 * (part * channels + channel);
  partial[0] = mean;
  partial[1] = all;
}

// One work-item to a channel. running_* are written where `running`: (1 - momentum) old + momentum new, the variance
// over M - 1.
__kernel void batch_norm_statistics(__global const float* restrict x, ulong x_offset,
                                    __global const float* restrict partial, ulong partial_offset,
                                    __global float* restrict mean, ulong mean_offset, __global float* restrict invstd,
                                    ulong invstd_offset, __global float* running_mean, ulong running_mean_offset,
                                    __global float* running_var, ulong running_var_offset, long images, long channels,
                                    long spatial, long parts, float epsilon, float momentum, int running) {
  const long channel = get_global_id(0);
  if (channel >= channels) return;
  partial += partial_offset + 2 * channel;
  const float count = images * spatial;
  ExactSum sum = {0.0f, 0.0f};
  for (long p = 0; p < parts; ++p)
    exact_add(&sum, partial[2 * p * channels] * part_size(p, images, spatial));
  const float m = exact_total(&sum) / count;
  ExactSum squares = {0.0f, 0.0f};
  for (long p = 0; p < parts; ++p) {
    const float d = partial[2 * p * channels] - m;
    exact_add(&squares, partial[2 * p * channels + 1] + d * d * part_size(p, images, spatial));
  }
  const float all = exact_total(&squares);
  const float whole = x[x_offset + channel * spatial] + m;
  mean[mean_offset + channel] = whole;
  invstd[invstd_offset + channel] = 1.0f / sqrt(all / count + epsilon);
  if (!running) return;
  running_mean += running_mean_offset + channel;
  running_var += running_var_offset + channel;
  *running_mean = (1.0f - momentum) * *running_mean + momentum * whole;
  *running_var = (1.0f - momentum) * *running_var + momentum * (all / (count - 1.0f));
}

// Mean and invstd of a channel from its running statistics.
__kernel void batch_norm_from_running(__global const float* restrict running_mean, ulong running_mean_offset,
                                      __global const float* restrict running_var, ulong running_var_offset,
                                      __global float* restrict mean, ulong mean_offset, __global float* restrict invstd,
                                      ulong invstd_offset, long channels, float epsilon) {
  const long channel = get_global_id(0);
  if (channel >= channels) return;
  mean[mean_offset + channel] = running_mean[running_mean_offset + channel];
  invstd[invstd_offset + channel] = 1.0f / sqrt(running_var[running_var_offset + channel] + epsilon);
}

// Group r: part p of row r = image * channels + channel of `spatial` elements. affine: 1 for a weight, 2 for a bias.
__kernel void batch_norm_apply(__global const float* restrict x, ulong x_offset, __global const float* restrict mean,
                               ulong mean_offset, __global const float* restrict invstd, ulong invstd_offset,
                               __global const float* weight, ulong weight_offset, __global const float* bias,
                               ulong bias_offset, __global float* restrict y, ulong y_offset, long rows, long channels,
                               long spatial, int affine) {
  SKIP_ITEMS_FROM(rows);
  const long row = ROW_ID;
  const long channel = row % channels;
  const long first = (long)get_global_id(1) * PART_CHUNKS + LANE_ID;
  const long end = min(((long)get_global_id(1) + 1) * PART_CHUNKS, CHUNKS(spatial));
  const float m = mean[mean_offset + channel];
  const float scale = invstd[invstd_offset + channel] * (affine & 1 ? weight[weight_offset + channel] : 1.0f);
  const float shift = affine & 2 ? bias[bias_offset + channel] : 0.0f;
  x += x_offset + row * spatial;
  y += y_offset + row * spatial;
  for (long c = first; c < end; c += GROUP)
    store_chunk((load_chunk(x, c, spatial, 1, 0.0f) - m) * scale + shift, y, c, spatial, 1);
}

// Per part the sums of dy and dy (x - mean).
__kernel void batch_norm_backward_sums(__global const float* restrict dy, ulong dy_offset,
                                       __global const float* restrict x, ulong x_offset,
                                       __global const float* restrict mean, ulong mean_offset,
                                       __global float* restrict partial, ulong partial_offset, long images,
                                       long channels, long spatial) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(channels);
  const long channel = ROW_ID;
  const long part = get_global_id(1);
  const long per_image = CHUNKS(spatial);
  const long first = part * PART_CHUNKS + LANE_ID;
  const long end = min((part + 1) * PART_CHUNKS, images * per_image);
  const float m = mean[mean_offset + channel];
  x += x_offset + channel * spatial;
  dy += dy_offset + channel * spatial;
  rowv sum = 0.0f;
  rowv products = 0.0f;
  Walk w = walk_from(first, per_image);
  for (long i = first; i < end; i += GROUP, walk_on(&w)) {
    const long image = w.n * channels * spatial;
    const rowv g = load_chunk(dy + image, w.k, spatial, 1, 0.0f);
    sum += g;
    products += g * (load_chunk(x + image, w.k, spatial, 1, m) - m);
  }
  const float all = row_sum(sum);
  const float all_products = row_sum(products);
  if (LANE_ID != 0) return;
  partial += partial_offset + 2 * (part * channels + channel);
  partial[0] = all;
  partial[1] = all_products;
}

// One work-item to a channel.
__kernel void batch_norm_backward_total(__global const float* restrict partial, ulong partial_offset,
                                        __global const float* restrict invstd, ulong invstd_offset,
                                        __global float* restrict dweight, ulong dweight_offset,
                                        __global float* restrict dbias, ulong dbias_offset, long channels, long parts) {
  const long channel = get_global_id(0);
  if (channel >= channels) return;
  partial += partial_offset + 2 * channel;
  ExactSum sum = {0.0f, 0.0f};
  ExactSum products = {0.0f, 0.0f};
  for (long p = 0; p < parts; ++p) {
    exact_add(&sum, partial[2 * p * channels]);
    exact_add(&products, partial[2 * p * channels + 1]);
  }
  dbias[dbias_offset + channel] = exact_total(&sum);
  dweight[dweight_offset + channel] = exact_total(&products) * invstd[invstd_offset + channel];
}

// As batch_norm_apply; 1 / M is 0 where mean and invstd are constants.
__kernel void batch_norm_backward_apply(
    __global const float* restrict dy, ulong dy_offset, __global const float* restrict x, ulong x_offset,
    __global const float* restrict mean, ulong mean_offset, __global const float* restrict invstd, ulong invstd_offset,
    __global const float* weight, ulong weight_offset, __global const float* restrict dweight, ulong dweight_offset,
    __global const float* restrict dbias, ulong dbias_offset, __global float* restrict dx, ulong dx_offset, long rows,
    long channels, long spatial, int affine, float inverse_count) {
  SKIP_ITEMS_FROM(rows);
  const long row = ROW_ID;
  const long channel = row % channels;
  const long first = (long)get_global_id(1) * PART_CHUNKS + LANE_ID;
  const long end = min(((long)get_global_id(1) + 1) * PART_CHUNKS, CHUNKS(spatial));
  const float m = mean[mean_offset + channel];
  const float inv = invstd[invstd_offset + channel];
  const float scale = inv * (affine & 1 ? weight[weight_offset + channel] : 1.0f);
  const float level = dbias[dbias_offset + channel] * inverse_count;
  const float slope = inv * dweight[dweight_offset + channel] * inverse_count;
  dy += dy_offset + row * spatial;
  x += x_offset + row * spatial;
  dx += dx_offset + row * spatial;
  for (long c = first; c < end; c += GROUP) {
    const rowv d = load_chunk(x, c, spatial, 1, 0.0f) - m;
    store_chunk((load_chunk(dy, c, spatial, 1, 0.0f) - level - d * slope) * scale, dx, c, spatial, 1);
  }
}
