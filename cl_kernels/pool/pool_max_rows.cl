// Max pooling for CPUs. A few work-items, each a work-group of its own, take output rows (forward) or planes
// (backward).
//
//   y[p][oh][ow] = max over the taps (h, w) of the window of x[p][h][w];  index = h * width + w of the chosen tap
//   dx[p][index[p][oh][ow]] += dy[p][oh][ow], from zero: one work-item owns the plane, so the order is fixed
//
// VW: lanes of a vector. Elements are of STORED, and indices of INDEX. The backward kernel adds in floats.
#include "common/vector.h"
#include "pool/max_window.h"
#include "pool/plane_sums.h"
#include "pool/row_window.h"

#define indexv JOIN(INDEX, VW)
typedef indexv unaligned_indexv __attribute__((aligned(2)));

static inline void store_indices(intv v, int count, __global INDEX* p) {
  if (count >= VW) {
    *(__global unaligned_indexv*)p = RESIZED(indexv, v);
    return;
  }
  int lanes[VW];
  vstorev(v, 0, lanes);
  FEW_TIMES
  for (int i = 0; i < count; ++i) p[i] = (INDEX)lanes[i];
}

// The maxima of VW outputs of a row, of which `count` are stored. w0 is the input column of the first output's first
// tap, and `step` is the stride. A caller passes a constant `step` if loads with this stride can be vectors.
static inline void max_of_vector(__global const STORED* plane, const PoolWindow* w, int h0, int w0, int step, int count,
                                 __global STORED* y, __global INDEX* index) {
  const int r0 = first_tap(h0, w->dilation_h);
  const int r1 = end_tap(h0, w->dilation_h, w->kernel_h, w->height);
  const intv first = w0 + LANES * step;
  floatv best = (floatv)(-INFINITY);
  intv at = first + (h0 + r0 * w->dilation_h) * w->width;
  for (int r = r0; r < r1; ++r) {
    const int row = (h0 + r * w->dilation_h) * w->width;
    for (int s = 0; s < w->kernel_w; ++s) {
      const floatv x = load_stepped(plane + row + w0 + s * w->dilation_w, step);
      const intv take = (x > best) | isnan(x);
      best = select(best, x, take);
      at = select(at, first + row + s * w->dilation_w, take);
    }
  }
  store_elements(best, count, y);
  store_indices(at, count, index);
}

CPU_KERNEL void max_pool_forward_rows(
    __global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y, const ulong y_offset,
    __global INDEX* restrict index, const ulong index_offset, const long planes, const PoolWindow w) {
  const InnerColumns inner = inner_columns(&w);
  y += y_offset;
  index += index_offset;
  OutputRow at = first_output_row(planes, w.out_h, get_global_id(0), get_global_size(0));
  for (; at.row < at.end; next_output_row(&at, w.out_h)) {
    const int h0 = at.oh * w.stride_h - w.pad_h;
    const long last_row = (long)min(w.height - 1, h0 + w.dilation_h * (w.kernel_h - 1)) * w.width;
    __global const STORED* src = x + x_offset + at.plane * w.height * w.width;
    for (int ow = 0; ow < w.out_w;) {
      const long to = at.row * w.out_w + ow;
      if (takes_vector(&inner, &w, &at, planes, ow, last_row)) {
        const int w0 = ow * w.stride_w - w.pad_w, count = lanes_to_store(&inner, &w, &at, ow);
        if (w.stride_w == 1)
          max_of_vector(src, &w, h0, w0, 1, count, y + to, index + to);
        else if (w.stride_w == 2)
          max_of_vector(src, &w, h0, w0, 2, count, y + to, index + to);
        else
          max_of_vector(src, &w, h0, w0, w.stride_w, count, y + to, index + to);
        ow += min(VW, inner.end - ow);
      } else {
        int position;
        STORE(STORED, y, to, max_of_window(src, &w, at.oh, ow, &position));
        index[to] = position;
        ++ow;
      }
    }
  }
}

CPU_KERNEL void max_pool_backward_planes(
    PLANE_SUMS_PARAMETERS, __global const STORED* restrict dy, const ulong dy_offset,
    __global const INDEX* restrict index, const ulong index_offset, const long planes, const int area,
    const int out_area) {
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long plane = planes * item / items; plane < planes * (item + 1) / items; ++plane) {
    __global STORED* dst = dx + dx_offset + plane * area;
    __global float* to = PLANE_SUMS(dst, item, area);
    __global const STORED* src = dy + dy_offset + plane * out_area;
    __global const INDEX* at = index + index_offset + plane * out_area;
    clear_sums(to, area);
    NO_UNROLL
    for (int o = 0; o < out_area; ++o)
      if ((uint)at[o] < (uint)area) to[at[o]] += LOAD(STORED, src, o);
    store_sums(to, area, dst);
  }
}
