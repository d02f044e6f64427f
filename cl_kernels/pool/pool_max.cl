// Max pooling, one work-item for each element.
//
//   y[p][oh][ow] = max over the taps (h, w) of the window of x[p][h][w];  index = h * width + w of the chosen tap
//   dx[p][h][w]  = sum over the windows (oh, ow) whose index is h * width + w of dy[p][oh][ow]
#include "pool/max_window.h"

__kernel void max_pool_forward(__global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y,
                               const ulong y_offset, __global INDEX* restrict index, const ulong index_offset,
                               const long count, const PoolWindow w) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const PlaceInPlanes at = place_in_planes(i, w.out_h, w.out_w);
  int position;
  STORE(STORED, y, y_offset + i,
        max_of_window(x + x_offset + at.plane * w.height * w.width, &w, at.row, at.column, &position));
  index[index_offset + i] = position;
}

__kernel void max_pool_backward(__global const STORED* restrict dy, const ulong dy_offset,
                                __global const INDEX* restrict index, const ulong index_offset,
                                __global STORED* restrict dx, const ulong dx_offset, const long count,
                                const PoolWindow w) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const PlaceInPlanes at = place_in_planes(i, w.height, w.width);
  const Windows of = windows_at(&w, at.row, at.column);
  dy += dy_offset + at.plane * w.out_h * w.out_w;
  index += index_offset + at.plane * w.out_h * w.out_w;
  const int position = at.row * w.width + at.column;
  float sum = 0.0f;
  for (int oh = of.h0; oh < of.h1; ++oh)
    for (int ow = of.w0; ow < of.w1; ++ow) {
      const int o = oh * w.out_w + ow;
      if (index[o] == position) sum += LOAD(STORED, dy, o);
    }
  STORE(STORED, dx, dx_offset + i, sum);
}
