// Average pooling for CPUs: a few work-items of their own group each take output rows (forward) or planes (backward).
//
//   y[p][oh][ow] = sum over the taps (h, w) of the window of x[p][h][w] / elements(oh, ow)
//   dx[p][h][w] += dy[p][oh][ow] / elements(oh, ow) for the taps of each window, from zero: one work-item owns the
//                  plane, so the order is fixed
//
// VW: lanes of a vector.
#include "common/avg_window.h"
#include "common/row_window.h"

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void avg_pool_forward_rows(
    __global const float* restrict x, const ulong x_offset, __global float* restrict y, const ulong y_offset,
    const long planes, const long8 sizes, const long8 taps, const int include_pad, const int divisor) {
  const Window w = window_of(sizes, taps);
  const long area = (long)w.height * w.width;
  const int inner = first_inner_column(&w);
  const int inner_end = max(inner, end_inner_column(&w));
  const long rows = planes * w.out_h;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long row = rows * item / items; row < rows * (item + 1) / items; ++row) {
    const long plane = row / w.out_h;
    const int oh = (int)(row - plane * w.out_h);
    const int h0 = max(oh * w.stride_h - w.pad_h, 0);
    const int h1 = min(oh * w.stride_h - w.pad_h + w.kernel_h, w.height);
    const long left = (planes - plane) * area;  // Elements from the plane's first to the tensor's end.
    __global const float* src = x + x_offset + plane * area;
    __global float* dst = y + y_offset + row * w.out_w;
    for (int ow = 0; ow < w.out_w;) {
      const int w0 = ow * w.stride_w - w.pad_w;
      if (ow >= inner && ow < inner_end && (long)(h1 - 1) * w.width + w0 + vector_reach(&w) <= left) {
        const int n = min(VW, inner_end - ow);
        floatv sum = (floatv)(0.0f);
        for (int h = h0; h < h1; ++h)
          for (int s = 0; s < w.kernel_w; ++s) sum += load_stepped(src + h * w.width + w0 + s, w.stride_w);
        store_lanes(sum / elements_of_window(&w, oh, ow, include_pad, divisor), n, dst + ow);
        ow += n;
      } else {
        dst[ow] = average_of_window(src, &w, oh, ow, include_pad, divisor);
        ++ow;
      }
    }
  }
}

// One plane: zeros, then each window's share is added to what it covers.
inline void spread_plane(__global const float* dy, __global float* dx, const Window* w, int include_pad, int divisor) {
  const int area = w->height * w->width;
  int i = 0;
  for (; i + VW <= area; i += VW) vstorev((floatv)(0.0f), 0, dx + i);
  for (; i < area; ++i) dx[i] = 0.0f;
  for (int oh = 0; oh < w->out_h; ++oh) {
    const int h0 = oh * w->stride_h - w->pad_h;
    const int h1 = min(h0 + w->kernel_h, w->height);
    for (int ow = 0; ow < w->out_w; ++ow) {
      const int w0 = ow * w->stride_w - w->pad_w;
      const int w1 = min(w0 + w->kernel_w, w->width);
      const float share = dy[oh * w->out_w + ow] / elements_of_window(w, oh, ow, include_pad, divisor);
      for (int h = max(h0, 0); h < h1; ++h)
        for (int column = max(w0, 0); column < w1; ++column) dx[h * w->width + column] += share;
    }
  }
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void avg_pool_backward_planes(
    __global const float* restrict dy, const ulong dy_offset, __global float* restrict dx, const ulong dx_offset,
    const long planes, const long8 sizes, const long8 taps, const int include_pad, const int divisor) {
  const Window w = window_of(sizes, taps);
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long plane = planes * item / items; plane < planes * (item + 1) / items; ++plane)
    spread_plane(dy + dy_offset + plane * w.out_h * w.out_w, dx + dx_offset + plane * w.height * w.width, &w,
                 include_pad, divisor);
}
