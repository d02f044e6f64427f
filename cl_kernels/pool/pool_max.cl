// Max pooling, one work-item for each element.
//
//   y[p][oh][ow] = max over the taps (h, w) of the window of x[p][h][w];  index = h * width + w of the chosen tap
//   dx[p][h][w]  = sum over the windows (oh, ow) whose index is h * width + w of dy[p][oh][ow]
#include "pool/max_window.h"

__kernel void max_pool_forward(__global const float* restrict x, const ulong x_offset, __global float* restrict y,
                               const ulong y_offset, __global int* restrict index, const ulong index_offset,
                               const long count, const long8 sizes, const long8 taps) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const Window w = window_of(sizes, taps);
  const long row = divide_index(i, w.out_w);
  const long plane = divide_index(row, w.out_h);
  const int oh = (int)(row - plane * w.out_h);
  const int ow = (int)(i - row * w.out_w);
  int position;
  y[y_offset + i] = max_of_window(x + x_offset + plane * w.height * w.width, &w, oh, ow, &position);
  index[index_offset + i] = position;
}

__kernel void max_pool_backward(__global const float* restrict dy, const ulong dy_offset,
                                __global const int* restrict index, const ulong index_offset,
                                __global float* restrict dx, const ulong dx_offset, const long count,
                                const long8 sizes, const long8 taps) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const Window w = window_of(sizes, taps);
  const long row = divide_index(i, w.width);
  const long plane = divide_index(row, w.height);
  const int h = (int)(row - plane * w.height);
  const int column = (int)(i - row * w.width);
  const int oh0 = first_window(h, w.pad_h, w.dil_h * (w.kernel_h - 1) + 1, w.stride_h);
  const int oh1 = end_window(h, w.pad_h, w.stride_h, w.out_h);
  const int ow0 = first_window(column, w.pad_w, w.dil_w * (w.kernel_w - 1) + 1, w.stride_w);
  const int ow1 = end_window(column, w.pad_w, w.stride_w, w.out_w);
  dy += dy_offset + plane * w.out_h * w.out_w;
  index += index_offset + plane * w.out_h * w.out_w;
  const int position = h * w.width + column;
  float sum = 0.0f;
  for (int oh = oh0; oh < oh1; ++oh)
    for (int ow = ow0; ow < ow1; ++ow) {
      const int o = oh * w.out_w + ow;
      if (index[o] == position) sum += dy[o];
    }
  dx[dx_offset + i] = sum;
}
