// Convolution that accepts every problem: one work-item for each element of the result, and plain loops.
//
//   y[n][k][i][j]  = f(bias[k] + sum over c, r, s of x[n][gC/G + c][i stride_h + r dil_h - pad_h][…] * w[k][c][r][s])
//   dx[n][c][h][w] = sum over k, r, s of dy[n][k][i][j] * w[k][c'][r][s], i stride_h + r dil_h - pad_h = h, …
//   dw[k][c][r][s] = sum over n, i, j of dy[n][k][i][j] * x[n][gC/G + c][i stride_h + r dil_h - pad_h][…]
//
// f is the epilogue of product/epilogue.h. All tensors are contiguous. sizes and window are as in conv/conv.h. Each row
// or channel has a sum of its own, so that long sums stay exact.
#include "conv/conv.h"
#include "product/epilogue.h"

DEFINE_FINISH(float, finish_number)

__kernel void conv2d_direct(__global const float* restrict x, const ulong x_offset, __global const float* restrict w,
                            const ulong w_offset, __global const float* restrict bias, const ulong bias_offset,
                            __global float* restrict y, const ulong y_offset, EPILOGUE_PARAMETERS, const long count,
                            const long8 sizes, const long8 window, const int flags) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const Conv v = conv_of(sizes, window);
  long n = id;
  const long j = take_index(&n, v.out_w);
  const long i = take_index(&n, v.out_h);
  const long k = take_index(&n, v.outputs);
  x += x_offset + (n * v.channels + k / v.group_outputs * v.group_channels) * v.height * v.width;
  w += w_offset + k * v.group_channels * v.r * v.s;
  float sum = flags & BIAS_PER_ROW ? bias[bias_offset + k] : 0.0f;
  for (long c = 0; c < v.group_channels; ++c) {
    float part = 0.0f;
    for (int r = 0; r < v.r; ++r) {
      const long h = i * v.stride_h - v.pad_h + r * v.dil_h;
      if (h < 0 || h >= v.height) continue;
      for (int s = 0; s < v.s; ++s) {
        const long column = j * v.stride_w - v.pad_w + s * v.dil_w;
        if (column >= 0 && column < v.width)
          part += x[(c * v.height + h) * v.width + column] * w[(c * v.r + r) * v.s + s];
      }
    }
    sum += part;
  }
  const Finish finish = FINISH_OF(0);
  // The position within a row of the result, see lib/ops/product/epilogue.h.
  const long at = n * v.outputs * v.out_h * v.out_w + i * v.out_w + j;
  const float first = READS_E0(flags) ? finish.e0[k * finish.row0 + at * finish.column0] : 0.0f;
  const float second = READS_E1(flags) ? finish.e1[k * finish.row1 + at * finish.column1] : 0.0f;
  y[y_offset + id] = finish_number(sum, first, second, &finish, flags);
}

__kernel void conv2d_direct_data(__global const float* restrict dy, const ulong dy_offset,
                                 __global const float* restrict w, const ulong w_offset, __global float* restrict dx,
                                 const ulong dx_offset, const long count, const long8 sizes, const long8 window) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const Conv v = conv_of(sizes, window);
  long n = id;
  const long column = take_index(&n, v.width);
  const long row = take_index(&n, v.height);
  const long c = take_index(&n, v.channels);
  const long k_first = c / v.group_channels * v.group_outputs;
  dy += dy_offset + (n * v.outputs + k_first) * v.out_h * v.out_w;
  w += w_offset + (k_first * v.group_channels + c % v.group_channels) * v.r * v.s;
  float sum = 0.0f;
  for (long k = 0; k < v.group_outputs; ++k) {
    float part = 0.0f;
    for (int r = 0; r < v.r; ++r) {
      const long i = output_at(row + v.pad_h - r * v.dil_h, v.stride_h, v.out_h);
      if (i < 0) continue;
      for (int s = 0; s < v.s; ++s) {
        const long j = output_at(column + v.pad_w - s * v.dil_w, v.stride_w, v.out_w);
        if (j >= 0)
          part += dy[(k * v.out_h + i) * v.out_w + j] * w[(k * v.group_channels * v.r + r) * v.s + s];
      }
    }
    sum += part;
  }
  dx[dx_offset + id] = sum;
}

// Adds the output rows first … end of the N * OH to dw. With `first` = 0 it overwrites dw.
__kernel void conv2d_direct_weight(__global const float* restrict dy, const ulong dy_offset,
                                   __global const float* restrict x, const ulong x_offset, __global float* restrict dw,
                                   const ulong dw_offset, const long count, const long8 sizes, const long8 window,
                                   const long first, const long end) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const Conv v = conv_of(sizes, window);
  long k = id;
  const int s = (int)take_index(&k, v.s);
  const int r = (int)take_index(&k, v.r);
  const long c = take_index(&k, v.group_channels);
  const long channel = k / v.group_outputs * v.group_channels + c;
  float sum = first == 0 ? 0.0f : dw[dw_offset + id];
  for (long output_row = first; output_row < end; ++output_row) {
    long n = output_row;
    const long i = take_index(&n, v.out_h);
    const long h = i * v.stride_h - v.pad_h + r * v.dil_h;
    if (h < 0 || h >= v.height) continue;
    const long dy_row = dy_offset + ((n * v.outputs + k) * v.out_h + i) * v.out_w;
    const long x_row = x_offset + ((n * v.channels + channel) * v.height + h) * v.width;
    float part = 0.0f;
    for (long j = 0; j < v.out_w; ++j) {
      const long column = j * v.stride_w - v.pad_w + s * v.dil_w;
      if (column >= 0 && column < v.width) part += dy[dy_row + j] * x[x_row + column];
    }
    sum += part;
  }
  dw[dw_offset + id] = sum;
}
