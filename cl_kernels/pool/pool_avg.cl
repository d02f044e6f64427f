// Average pooling, one work-item for each element.
//
//   y[p][oh][ow] = sum over the taps (h, w) of the window of x[p][h][w] / elements(oh, ow)
//   dx[p][h][w]  = sum over the windows (oh, ow) that cover (h, w) of dy[p][oh][ow] / elements(oh, ow)
#include "pool/avg_window.h"

__kernel void avg_pool_forward(__global const float* restrict x, const ulong x_offset, __global float* restrict y,
                               const ulong y_offset, const long count, const long8 sizes, const long8 taps,
                               const int include_pad, const int divisor) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const Window w = window_of(sizes, taps);
  const long row = divide_index(i, w.out_w);
  const long plane = divide_index(row, w.out_h);
  const int oh = (int)(row - plane * w.out_h);
  const int ow = (int)(i - row * w.out_w);
  y[y_offset + i] =
      average_of_window(x + x_offset + plane * w.height * w.width, &w, oh, ow, include_pad, divisor);
}

__kernel void avg_pool_backward(__global const float* restrict dy, const ulong dy_offset, __global float* restrict dx,
                                const ulong dx_offset, const long count, const long8 sizes, const long8 taps,
                                const int include_pad, const int divisor) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const Window w = window_of(sizes, taps);
  const long row = divide_index(i, w.width);
  const long plane = divide_index(row, w.height);
  const int h = (int)(row - plane * w.height);
  const int column = (int)(i - row * w.width);
  const int oh0 = first_window(h, w.pad_h, w.kernel_h, w.stride_h);
  const int oh1 = end_window(h, w.pad_h, w.stride_h, w.out_h);
  const int ow0 = first_window(column, w.pad_w, w.kernel_w, w.stride_w);
  const int ow1 = end_window(column, w.pad_w, w.stride_w, w.out_w);
  dy += dy_offset + plane * w.out_h * w.out_w;
  float sum = 0.0f;
  for (int oh = oh0; oh < oh1; ++oh)
    for (int ow = ow0; ow < ow1; ++ow)
      sum += dy[oh * w.out_w + ow] / elements_of_window(&w, oh, ow, include_pad, divisor);
  dx[dx_offset + i] = sum;
}
