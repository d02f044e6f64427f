// Average pooling, one work-item for each element.
//
//   y[p][oh][ow] = sum over the taps (h, w) of the window of x[p][h][w] / elements(oh, ow)
//   dx[p][h][w]  = sum over the windows (oh, ow) that cover (h, w) of dy[p][oh][ow] / elements(oh, ow)
#include "pool/avg_window.h"

__kernel void avg_pool_forward(__global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y,
                               const ulong y_offset, const long count, const PoolWindow w,
                               const int include_pad, const int divisor) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const PlaceInPlanes at = place_in_planes(i, w.out_h, w.out_w);
  STORE(STORED, y, y_offset + i,
        average_of_window(x + x_offset + at.plane * w.height * w.width, &w, at.row, at.column, include_pad, divisor));
}

__kernel void avg_pool_backward(__global const STORED* restrict dy, const ulong dy_offset, __global STORED* restrict dx,
                                const ulong dx_offset, const long count, const PoolWindow w,
                                const int include_pad, const int divisor) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const PlaceInPlanes at = place_in_planes(i, w.height, w.width);
  const Windows of = windows_at(&w, at.row, at.column);
  dy += dy_offset + at.plane * w.out_h * w.out_w;
  float sum = 0.0f;
  for (int oh = of.h0; oh < of.h1; ++oh)
    for (int ow = of.w0; ow < of.w1; ++ow)
      sum += LOAD(STORED, dy, oh * w.out_w + ow) / elements_of_window(&w, oh, ow, include_pad, divisor);
  STORE(STORED, dx, dx_offset + i, sum);
}
