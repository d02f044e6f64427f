// Convolution by plain loops, with one work-item for each element of the result. It accepts every problem.
//
//   y[n][k][i][j]  = f(bias[k] + sum over c, r, s of x[n][gC/G + c][i stride_h + r dil_h - pad_h][…] * w[k][c][r][s])
//   dx[n][c][h][w] = sum over k, r, s of dy[n][k][i][j] * w[k][c'][r][s], i stride_h + r dil_h - pad_h = h, …
//   dw[k][c][r][s] = sum over n, i, j of dy[n][k][i][j] * x[n][gC/G + c][i stride_h + r dil_h - pad_h][…]
//
// f is the epilogue of product/epilogue.h. All tensors are contiguous. Inputs are of STORED, and results of RESULT. Each row or
// channel is summed separately, so that long sums lose few digits.
#include "common/element.h"
#include "conv/conv.h"
#include "product/epilogue.h"

DEFINE_FINISH(float, finish_number)

__kernel void conv2d_direct(__global const STORED* restrict x, const ulong x_offset, __global const STORED* restrict w,
                            const ulong w_offset, __global const RESULT* restrict bias, const ulong bias_offset,
                            __global RESULT* restrict y, const ulong y_offset, EPILOGUE_PARAMETERS, const long count,
                            const ConvSizes sizes, const ConvWindow window, const int flags) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const long group_channels = sizes.channels / sizes.groups, group_outputs = sizes.outputs / sizes.groups;
  long n = id;
  const long j = take_index(&n, sizes.out_w);
  const long i = take_index(&n, sizes.out_h);
  const long k = take_index(&n, sizes.outputs);
  x += x_offset + (n * sizes.channels + k / group_outputs * group_channels) * sizes.height * sizes.width;
  w += w_offset + k * group_channels * window.taps_h * window.taps_w;
  float sum = flags & BIAS_PER_ROW ? LOAD(RESULT, bias, bias_offset + k) : 0.0f;
  for (long c = 0; c < group_channels; ++c) {
    float part = 0.0f;
    for (int r = 0; r < window.taps_h; ++r) {
      const long h = i * window.stride_h - window.pad_h + r * window.dilation_h;
      if (h < 0 || h >= sizes.height) continue;
      for (int s = 0; s < window.taps_w; ++s) {
        const long column = j * window.stride_w - window.pad_w + s * window.dilation_w;
        if (column >= 0 && column < sizes.width)
          part += LOAD(STORED, x, (c * sizes.height + h) * sizes.width + column) *
                  LOAD(STORED, w, (c * window.taps_h + r) * window.taps_w + s);
      }
    }
    sum += part;
  }
  const Finish finish = FINISH_OF(0);
  // The position within a row of the result, see lib/ops/product/epilogue.h.
  const long at = n * sizes.outputs * sizes.out_h * sizes.out_w + i * sizes.out_w + j;
  const float first = READS_E0(flags) ? LOAD(RESULT, finish.e0, k * finish.row0 + at * finish.column0) : 0.0f;
  const float second = READS_E1(flags) ? LOAD(RESULT, finish.e1, k * finish.row1 + at * finish.column1) : 0.0f;
  STORE(RESULT, y, y_offset + id, finish_number(sum, first, second, &finish, flags));
}

__kernel void conv2d_direct_data(__global const STORED* restrict dy, const ulong dy_offset,
                                 __global const STORED* restrict w, const ulong w_offset, __global RESULT* restrict dx,
                                 const ulong dx_offset, const long count, const ConvSizes sizes,
                                 const ConvWindow window) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const long group_channels = sizes.channels / sizes.groups, group_outputs = sizes.outputs / sizes.groups;
  long n = id;
  const long column = take_index(&n, sizes.width);
  const long row = take_index(&n, sizes.height);
  const long c = take_index(&n, sizes.channels);
  const long k_first = c / group_channels * group_outputs;
  dy += dy_offset + (n * sizes.outputs + k_first) * sizes.out_h * sizes.out_w;
  w += w_offset + (k_first * group_channels + c % group_channels) * window.taps_h * window.taps_w;
  float sum = 0.0f;
  for (long k = 0; k < group_outputs; ++k) {
    float part = 0.0f;
    for (int r = 0; r < window.taps_h; ++r) {
      const long i = output_at(row + window.pad_h - r * window.dilation_h, window.stride_h, sizes.out_h);
      if (i < 0) continue;
      for (int s = 0; s < window.taps_w; ++s) {
        const long j = output_at(column + window.pad_w - s * window.dilation_w, window.stride_w, sizes.out_w);
        if (j >= 0)
          part += LOAD(STORED, dy, (k * sizes.out_h + i) * sizes.out_w + j) *
                  LOAD(STORED, w, (k * group_channels * window.taps_h + r) * window.taps_w + s);
      }
    }
    sum += part;
  }
  STORE(RESULT, dx, dx_offset + id, sum);
}

// Adds the output rows first … end of all N * OH rows to dw. With `first` = 0 it overwrites dw.
__kernel void conv2d_direct_weight(__global const STORED* restrict dy, const ulong dy_offset,
                                   __global const STORED* restrict x, const ulong x_offset,
                                   __global RESULT* restrict dw, const ulong dw_offset, const long count, const ConvSizes sizes,
                                   const ConvWindow window, const long first, const long end) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const long group_channels = sizes.channels / sizes.groups, group_outputs = sizes.outputs / sizes.groups;
  long k = id;
  const int s = (int)take_index(&k, window.taps_w);
  const int r = (int)take_index(&k, window.taps_h);
  const long c = take_index(&k, group_channels);
  const long channel = k / group_outputs * group_channels + c;
  float sum = first == 0 ? 0.0f : LOAD(RESULT, dw, dw_offset + id);
  for (long output_row = first; output_row < end; ++output_row) {
    long n = output_row;
    const long i = take_index(&n, sizes.out_h);
    const long h = i * window.stride_h - window.pad_h + r * window.dilation_h;
    if (h < 0 || h >= sizes.height) continue;
    const long dy_row = dy_offset + ((n * sizes.outputs + k) * sizes.out_h + i) * sizes.out_w;
    const long x_row = x_offset + ((n * sizes.channels + channel) * sizes.height + h) * sizes.width;
    float part = 0.0f;
    for (long j = 0; j < sizes.out_w; ++j) {
      const long column = j * window.stride_w - window.pad_w + s * window.dilation_w;
      if (column >= 0 && column < sizes.width) part += LOAD(STORED, dy, dy_row + j) * LOAD(STORED, x, x_row + column);
    }
    sum += part;
  }
  STORE(RESULT, dw, dw_offset + id, sum);
}
