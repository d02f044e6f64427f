// Adaptive average pooling, one work-item for each element. The windows follow from the sizes of input and
// output.
//
//   y[p][oh][ow] = mean of x[p] over rows(oh) and columns(ow), see pool/adaptive_window.h
//   dx[p][h][w]  = sum over the windows (oh, ow) that cover (h, w) of dy[p][oh][ow] / elements(oh, ow)
#include "pool/adaptive_window.h"
#include "pool/window.h"

__kernel void adaptive_avg_pool_forward(__global const STORED* restrict x, const ulong x_offset,
                                        __global STORED* restrict y, const ulong y_offset, const long count,
                                        const AdaptivePlane p) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const int height = p.height, width = p.width, out_h = p.out_h, out_w = p.out_w;
  const PlaceInPlanes at = place_in_planes(i, out_h, out_w);
  const int oh = at.row, ow = at.column;
  const int h0 = range_begin(oh, height, out_h), h1 = range_end(oh, height, out_h);
  const int w0 = range_begin(ow, width, out_w), w1 = range_end(ow, width, out_w);
  x += x_offset + at.plane * height * width;
  float sum = 0.0f;
  for (int h = h0; h < h1; ++h) {
    float row_sum = 0.0f;
    for (int w = w0; w < w1; ++w) row_sum += LOAD(STORED, x, h * width + w);
    sum += row_sum;
  }
  STORE(STORED, y, y_offset + i, sum / ((float)(h1 - h0) * (float)(w1 - w0)));
}

__kernel void adaptive_avg_pool_backward(__global const STORED* restrict dy, const ulong dy_offset,
                                         __global STORED* restrict dx, const ulong dx_offset, const long count,
                                         const AdaptivePlane p) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const int height = p.height, width = p.width, out_h = p.out_h, out_w = p.out_w;
  const PlaceInPlanes at = place_in_planes(i, height, width);
  const int h = at.row, w = at.column;
  const int oh1 = range_end(h, out_h, height);
  const int ow1 = range_end(w, out_w, width);
  dy += dy_offset + at.plane * out_h * out_w;
  float sum = 0.0f;
  for (int oh = range_begin(h, out_h, height); oh < oh1; ++oh) {
    const int tall = range_end(oh, height, out_h) - range_begin(oh, height, out_h);
    for (int ow = range_begin(w, out_w, width); ow < ow1; ++ow) {
      const int wide = range_end(ow, width, out_w) - range_begin(ow, width, out_w);
      sum += LOAD(STORED, dy, oh * out_w + ow) / ((float)tall * (float)wide);
    }
  }
  STORE(STORED, dx, dx_offset + i, sum);
}
