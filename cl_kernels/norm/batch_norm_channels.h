// The kernels of batch normalisation that have one work-item for each channel. They combine the partial results
// [part][channel][2] of the channel's parts.
#ifndef PARAMETER  // The type of w, b and the running statistics in memory.
#define PARAMETER float
#endif
#include "norm/parameters.h"
#include "rowwise/rows.h"

// The number of elements of a part. In vectors, a part is a piece of a row. Otherwise, and with COLUMNS, it is `piece`
// elements of a channel.
#if VW > 1 && !defined(COLUMNS)
#define PIECES(spatial, piece) (((spatial) + (piece) - 1) / (piece))
#endif
INLINE long part_size(const long part, const long images, const long spatial, const long piece) {
#ifdef PIECES
  return min(piece, spatial - part % PIECES(spatial, piece) * piece);
#else
  return min(piece, images * spatial - part * piece);
#endif
}

// One work-item for each channel. With `running`, running_* become (1 - momentum) old + momentum new. The new variance
// is divided by M - 1.
ROW_KERNEL void batch_norm_statistics(
    __global const STORED* restrict x, ulong x_offset, __global const float* restrict partial, ulong partial_offset,
    __global float* restrict mean, ulong mean_offset, __global float* restrict invstd, ulong invstd_offset, __global
    PARAMETER* running_mean, ulong running_mean_offset, __global PARAMETER* running_var, ulong running_var_offset,
    BatchNormParameters sizes, float epsilon, float momentum, int running) {
  const long channel = get_global_id(0);
  if (channel >= sizes.channels) return;
  partial += partial_offset + 2 * channel;
  const long images = sizes.rows / sizes.channels;
  const float count = images * sizes.spatial;
  ExactSum sum = {0.0f, 0.0f}, squares = {0.0f, 0.0f};
  for (long p = 0; p < sizes.parts; ++p)
    exact_add(&sum, partial[2 * p * sizes.channels] * part_size(p, images, sizes.spatial, sizes.piece));
  const float m = exact_total(&sum) / count;
  for (long p = 0; p < sizes.parts; ++p) {
    const float d = partial[2 * p * sizes.channels] - m;
    exact_add(&squares, partial[2 * p * sizes.channels + 1] + d * d * part_size(p, images, sizes.spatial, sizes.piece));
  }
  const float all = exact_total(&squares);
  const float whole = LOAD(STORED, x, x_offset + channel * sizes.spatial) + m, old = 1.0f - momentum;
  mean[mean_offset + channel] = whole;
  invstd[invstd_offset + channel] = 1.0f / sqrt(all / count + epsilon);
  if (!running) return;
  running_mean += running_mean_offset + channel;
  running_var += running_var_offset + channel;
  STORE(PARAMETER, running_mean, 0, old * LOAD(PARAMETER, running_mean, 0) + momentum * whole);
  STORE(PARAMETER, running_var, 0, old * LOAD(PARAMETER, running_var, 0) + momentum * (all / (count - 1.0f)));
}

// Mean and invstd of a channel from its running statistics.
ROW_KERNEL void batch_norm_from_running(__global const PARAMETER* restrict running_mean, ulong running_mean_offset,
                                      __global const PARAMETER* restrict running_var, ulong running_var_offset,
                                      __global float* restrict mean, ulong mean_offset, __global float* restrict invstd,
                                      ulong invstd_offset, long channels, float epsilon) {
  const long channel = get_global_id(0);
  if (channel >= channels) return;
  mean[mean_offset + channel] = LOAD(PARAMETER, running_mean, running_mean_offset + channel);
  invstd[invstd_offset + channel] = 1.0f / sqrt(LOAD(PARAMETER, running_var, running_var_offset + channel) + epsilon);
}

// One work-item for each channel.
ROW_KERNEL void batch_norm_backward_total(__global const float* restrict partial, ulong partial_offset,
                                        __global const float* restrict invstd, ulong invstd_offset,
                                        __global float* restrict dweight, ulong dweight_offset,
                                        __global float* restrict dbias, ulong dbias_offset, long channels, long parts) {
  const long channel = get_global_id(0);
  if (channel >= channels) return;
  partial += partial_offset + 2 * channel;
  ExactSum sum = {0.0f, 0.0f}, products = {0.0f, 0.0f};
  for (long p = 0; p < parts; ++p) {
    exact_add(&sum, partial[2 * p * channels]);
    exact_add(&products, partial[2 * p * channels + 1]);
  }
  dbias[dbias_offset + channel] = exact_total(&sum);
  dweight[dweight_offset + channel] = exact_total(&products) * invstd[invstd_offset + channel];
}
