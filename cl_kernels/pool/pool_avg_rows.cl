// Average pooling for CPUs. A few work-items, each a work-group of its own, take output rows (forward) or planes
// (backward).
//
//   y[p][oh][ow] = sum over the taps (h, w) of the window of x[p][h][w] / elements(oh, ow)
//   dx[p][h][w] += dy[p][oh][ow] / elements(oh, ow) for the taps of each window, from zero: one work-item owns the
//                  plane, so the order is fixed
//
// VW: lanes of a vector. Elements are of STORED. The backward kernel adds in floats.
#include "common/vector.h"
#include "pool/avg_window.h"
#include "pool/plane_sums.h"
#include "pool/row_window.h"

// The sums of VW windows of a row. w0 is the input column of the first window's first tap, and `step` is the stride. A
// caller passes a constant `step` if loads with this stride can be vectors.
static inline floatv sums_of_windows(__global const STORED* plane, const PoolWindow* w, int h0, int h1, int w0,
                                     int step) {
  floatv sum = (floatv)(0.0f);
  for (int h = h0; h < h1; ++h)
    for (int s = 0; s < w->kernel_w; ++s) sum += load_stepped(plane + h * w->width + w0 + s, step);
  return sum;
}

CPU_KERNEL void avg_pool_forward_rows(
    __global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y, const ulong y_offset,
    const long planes, const PoolWindow w, const int include_pad, const int divisor) {
  const InnerColumns inner = inner_columns(&w);
  y += y_offset;
  OutputRow at = first_output_row(planes, w.out_h, get_global_id(0), get_global_size(0));
  for (; at.row < at.end; next_output_row(&at, w.out_h)) {
    const int h0 = max(at.oh * w.stride_h - w.pad_h, 0);
    const int h1 = min(at.oh * w.stride_h - w.pad_h + w.kernel_h, w.height);
    __global const STORED* src = x + x_offset + at.plane * w.height * w.width;
    __global STORED* to = y + at.row * w.out_w;
    for (int ow = 0; ow < w.out_w;) {
      if (takes_vector(&inner, &w, &at, planes, ow, (long)(h1 - 1) * w.width)) {
        const int w0 = ow * w.stride_w - w.pad_w;
        const floatv sum = w.stride_w == 1   ? sums_of_windows(src, &w, h0, h1, w0, 1)
                           : w.stride_w == 2 ? sums_of_windows(src, &w, h0, h1, w0, 2)
                                             : sums_of_windows(src, &w, h0, h1, w0, w.stride_w);
        store_elements(sum / elements_of_window(&w, at.oh, ow, include_pad, divisor),
                    lanes_to_store(&inner, &w, &at, ow), to + ow);
        ow += min(VW, inner.end - ow);
      } else {
        STORE(STORED, to, ow, average_of_window(src, &w, at.oh, ow, include_pad, divisor));
        ++ow;
      }
    }
  }
}

#define SHARES 64  // The number of outputs that are divided by their window's size at a time.

// Adds the shares of the outputs ow0 … ow0+n-1 of a row to the elements that they cover, tap by tap.
static inline void spread_row(__global const STORED* dy, __global float* dx, const PoolWindow* w, int oh, int ow0,
                              int n, int include_pad, int divisor) {
  float shares[SHARES];
  for (int i = 0; i < n; i += VW) vstorev(load_elements(dy + i, n - i), 0, shares + i);
  for (int i = 0; i < n; ++i) shares[i] /= elements_of_window(w, oh, ow0 + i, include_pad, divisor);
  const int h0 = oh * w->stride_h - w->pad_h;
  const int h1 = min(h0 + w->kernel_h, w->height);
  for (int h = max(h0, 0); h < h1; ++h)
    for (int s = 0; s < w->kernel_w; ++s) {
      const int w0 = ow0 * w->stride_w - w->pad_w + s;  // Column of the tap, which may be outside of the plane at the
                                                        // ends of a row.
      const int begin = w0 < 0 ? (-w0 + w->stride_w - 1) / w->stride_w : 0;
      const int end = min(n, (w->width - w0 + w->stride_w - 1) / w->stride_w);
      for (int i = begin; i < end; ++i) dx[h * w->width + w0 + i * w->stride_w] += shares[i];
    }
}

// Fills one plane with zeros, then adds the share of each window.
static inline void spread_plane(__global const STORED* dy, __global float* dx, const PoolWindow* w, int include_pad,
                                int divisor) {
  clear_sums(dx, w->height * w->width);
  for (int oh = 0; oh < w->out_h; ++oh)
    for (int ow = 0; ow < w->out_w; ow += SHARES)
      spread_row(dy + oh * w->out_w + ow, dx, w, oh, ow, min(SHARES, w->out_w - ow), include_pad, divisor);
}

CPU_KERNEL void avg_pool_backward_planes(
    PLANE_SUMS_PARAMETERS, __global const STORED* restrict dy, const ulong dy_offset, const long planes,
    const PoolWindow w, const int include_pad, const int divisor) {
  const int area = w.height * w.width;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long plane = planes * item / items; plane < planes * (item + 1) / items; ++plane) {
    __global STORED* dst = dx + dx_offset + plane * area;
    __global float* to = PLANE_SUMS(dst, item, area);
    spread_plane(dy + dy_offset + plane * w.out_h * w.out_w, to, &w, include_pad, divisor);
    store_sums(to, area, dst);
  }
}
