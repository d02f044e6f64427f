// Max pooling for CPUs. A few work-items, each a work-group of its own, take output rows (forward) or planes
// (backward).
//
//   y[p][oh][ow] = max over the taps (h, w) of the window of x[p][h][w];  index = h * width + w of the chosen tap
//   dx[p][index[p][oh][ow]] += dy[p][oh][ow], from zero: one work-item owns the plane, so the order is fixed
//
// VW: lanes of a vector.
#include "pool/max_window.h"
#include "pool/row_window.h"

// VW outputs of a row, of which `room` may be stored. w0 is the input column of the first output's first tap. `step` is
// the stride. A call passes it as a constant if loads with this stride are vectors.
static inline void max_of_vector(__global const float* plane, const Window* w, int h0, int w0, int step, long room,
                                 __global float* y, __global int* index) {
  const int r0 = first_tap(h0, w->dil_h);
  const int r1 = end_tap(h0, w->dil_h, w->kernel_h, w->height);
  const intv first = w0 + LANES * step;
  floatv best = (floatv)(-INFINITY);
  intv at = first + (h0 + r0 * w->dil_h) * w->width;
  for (int r = r0; r < r1; ++r) {
    const int row = (h0 + r * w->dil_h) * w->width;
    for (int s = 0; s < w->kernel_w; ++s) {
      const floatv x = load_stepped(plane + row + w0 + s * w->dil_w, step);
      const intv take = (x > best) | isnan(x);
      best = select(best, x, take);
      at = select(at, first + row + s * w->dil_w, take);
    }
  }
  store_lanes(best, (int)min(room, (long)VW), y);
  store_int_lanes(at, (int)min(room, (long)VW), index);
}

CPU_KERNEL void max_pool_forward_rows(
    __global const float* restrict x, const ulong x_offset, __global float* restrict y, const ulong y_offset,
    __global int* restrict index, const ulong index_offset, const long planes, const long8 sizes, const long8 taps) {
  const Window w = window_of(sizes, taps);
  const int inner = first_inner_column(&w);
  const int inner_end = end_inner_column(&w);
  const long reach = vector_reach(&w);
  const RowRange rows = row_range(planes, w.out_h);
  long plane = rows.begin / w.out_h;
  int oh = (int)(rows.begin - plane * w.out_h);
  y += y_offset;
  index += index_offset;
  for (long row = rows.begin; row < rows.end; ++row) {
    const int h0 = oh * w.stride_h - w.pad_h;
    const long left = (planes - plane) * w.height * w.width;  // Elements from the plane's start to the tensor's end.
    __global const float* src = x + x_offset + plane * w.height * w.width;
    const long last_row = (long)min(w.height - 1, h0 + w.dil_h * (w.kernel_h - 1)) * w.width;
    for (int ow = 0; ow < w.out_w;) {
      const int w0 = ow * w.stride_w - w.pad_w;
      const long to = row * w.out_w + ow;
      if (ow >= inner && ow < inner_end && last_row + w0 + reach <= left) {
        // Lanes past the end of the row go into rows that this work-item writes later.
        const long room = inner_end < w.out_w ? inner_end - ow : rows.end * w.out_w - to;
        if (w.stride_w == 1)
          max_of_vector(src, &w, h0, w0, 1, room, y + to, index + to);
        else if (w.stride_w == 2)
          max_of_vector(src, &w, h0, w0, 2, room, y + to, index + to);
        else
          max_of_vector(src, &w, h0, w0, w.stride_w, room, y + to, index + to);
        ow += min(VW, inner_end - ow);
      } else {
        int position;
        y[to] = max_of_window(src, &w, oh, ow, &position);
        index[to] = position;
        ++ow;
      }
    }
    if (++oh == w.out_h) {
      oh = 0;
      ++plane;
    }
  }
}

CPU_KERNEL void max_pool_backward_planes(
    __global const float* restrict dy, const ulong dy_offset, __global const int* restrict index,
    const ulong index_offset, __global float* restrict dx, const ulong dx_offset, const long planes, const int area,
    const int out_area) {
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long plane = planes * item / items; plane < planes * (item + 1) / items; ++plane) {
    __global float* dst = dx + dx_offset + plane * area;
    __global const float* src = dy + dy_offset + plane * out_area;
    __global const int* at = index + index_offset + plane * out_area;
    int i = 0;
    for (; i + VW <= area; i += VW) vstorev((floatv)(0.0f), 0, dst + i);
    for (; i < area; ++i) dst[i] = 0.0f;
    for (int o = 0; o < out_area; ++o)
      if ((uint)at[o] < (uint)area) dst[at[o]] += src[o];
  }
}
