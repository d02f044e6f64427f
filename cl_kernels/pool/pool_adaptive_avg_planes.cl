// Adaptive average pooling for CPUs. A few work-items, each a work-group of its own, take planes.
//
//   y[p][oh][ow] = mean of x[p] over rows(oh) and columns(ow), see pool/adaptive_window.h
//   dx[p][h][w] += dy[p][oh][ow] / elements(oh, ow) for all (h, w) of the window, from zero; one item owns the plane
//
// VW: lanes of a vector. Elements are of STORED. The backward kernel adds in floats.
#include "common/vector.h"
#include "pool/adaptive_window.h"
#include "pool/plane_sums.h"
#include "pool/window.h"

// One window as `count` segments of `length` contiguous elements. Segments are `step` apart. If the window covers whole
// rows, it is one segment.
typedef struct {
  int first, count, length, step;
} Segments;

static inline Segments segments_of(int oh, int ow, int height, int width, int out_h, int out_w) {
  const int h0 = range_begin(oh, height, out_h);
  const int w0 = range_begin(ow, width, out_w);
  const int tall = range_end(oh, height, out_h) - h0;
  const int wide = range_end(ow, width, out_w) - w0;
  Segments s;
  s.first = h0 * width + w0;
  s.count = wide == width ? 1 : tall;
  s.length = wide == width ? tall * width : wide;
  s.step = width;
  return s;
}

static inline float sum_of_segment(__global const STORED* x, int length) {
  float sum = 0.0f;
  int i = 0;
  if (length >= VW) {
    floatv sums = (floatv)(0.0f);
    for (; i + VW <= length; i += VW) sums += VLOAD(STORED, x + i);
    float lanes[VW];
    vstorev(sums, 0, lanes);
    for (int lane = 0; lane < VW; ++lane) sum += lanes[lane];
  }
  for (; i < length; ++i) sum += LOAD(STORED, x, i);
  return sum;
}

static inline void add_to_segment(__global float* x, int length, float value) {
  int i = 0;
  for (; i + VW <= length; i += VW) vstorev(vloadv(0, x + i) + value, 0, x + i);
  for (; i < length; ++i) x[i] += value;
}

CPU_KERNEL void adaptive_avg_pool_forward_planes(
    __global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y, const ulong y_offset,
    const long planes, const AdaptivePlane p) {
  const int height = p.height, width = p.width, out_h = p.out_h, out_w = p.out_w;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long plane = planes * item / items; plane < planes * (item + 1) / items; ++plane)
    for (int oh = 0; oh < out_h; ++oh)
      for (int ow = 0; ow < out_w; ++ow) {
        const Segments s = segments_of(oh, ow, height, width, out_h, out_w);
        __global const STORED* src = x + x_offset + plane * height * width + s.first;
        float sum = 0.0f;
        for (int i = 0; i < s.count; ++i) sum += sum_of_segment(src + i * s.step, s.length);
        STORE(STORED, y, y_offset + (plane * out_h + oh) * out_w + ow, sum / (float)(s.count * s.length));
      }
}

CPU_KERNEL void adaptive_avg_pool_backward_planes(
    PLANE_SUMS_PARAMETERS, __global const STORED* restrict dy, const ulong dy_offset, const long planes,
    const AdaptivePlane p) {
  const int height = p.height, width = p.width, out_h = p.out_h, out_w = p.out_w;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long plane = planes * item / items; plane < planes * (item + 1) / items; ++plane) {
    __global STORED* dst = dx + dx_offset + plane * height * width;
    __global float* to = PLANE_SUMS(dst, item, height * width);
    clear_sums(to, height * width);
    for (int oh = 0; oh < out_h; ++oh)
      for (int ow = 0; ow < out_w; ++ow) {
        const Segments s = segments_of(oh, ow, height, width, out_h, out_w);
        const float share =
            LOAD(STORED, dy, dy_offset + (plane * out_h + oh) * out_w + ow) / (float)(s.count * s.length);
        for (int i = 0; i < s.count; ++i) add_to_segment(to + s.first + i * s.step, s.length, share);
      }
    store_sums(to, height * width, dst);
  }
}
