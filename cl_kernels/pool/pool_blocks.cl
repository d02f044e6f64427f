// Pooling of channels in blocks (conv/cpu/blocks/blocks.h) of STORED: x (planes, H, W, VW), y (planes, OH, OW, VW). A
// plane holds the pixels of a block of VW channels. A few work-items, each a work-group of its own, take outputs one
// after the other.
#include "common/vector.h"
#include "pool/avg_window.h"

// The first output of work-item `item`, counted over all planes. For item + 1 it is the end of the item's outputs.
INLINE long first_output(long planes, const PoolWindow* w, long item, long items) {
  return planes * w->out_h * w->out_w * item / items;
}

#define FOR_EACH_OUTPUT(at)                                                            \
  const long end = first_output(planes, &w, get_global_id(0) + 1, get_global_size(0)); \
  NO_UNROLL                                                                            \
  for (long at = first_output(planes, &w, get_global_id(0), get_global_size(0)); at < end; ++at)

// The window of output `at`: its first row and column, and the taps r0 … r1-1 and s0 … s1-1 inside of the plane.
#define WINDOW_OF(at)                                                                               \
  const PlaceInPlanes place = place_in_planes(at, w.out_h, w.out_w);                                \
  const int oh = place.row, ow = place.column;                                                      \
  const int h0 = oh * w.stride_h - w.pad_h, w0 = ow * w.stride_w - w.pad_w;                         \
  const int r0 = first_tap(h0, w.dilation_h), r1 = end_tap(h0, w.dilation_h, w.kernel_h, w.height); \
  const int s0 = first_tap(w0, w.dilation_w), s1 = end_tap(w0, w.dilation_w, w.kernel_w, w.width);  \
  __global const STORED* src = x + x_offset + place.plane * w.height * w.width * VW

// NaN counts as larger than every number.
CPU_KERNEL void max_pool_blocks(__global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y,
                                const ulong y_offset, const long planes, const PoolWindow w) {
  FOR_EACH_OUTPUT(at) {
    WINDOW_OF(at);
    floatv best = (floatv)(-INFINITY);
    NO_UNROLL
    for (int r = r0; r < r1; ++r) {
      __global const STORED* line = src + (long)(h0 + r * w.dilation_h) * w.width * VW;
      NO_UNROLL
      for (int s = s0; s < s1; ++s) {
        const floatv v = LOAD_MANY(STORED, line + (w0 + s * w.dilation_w) * VW);
        best = select(best, v, (v > best) | isnan(v));
      }
    }
    STORE_MANY(STORED, y + y_offset + at * VW, best);
  }
}

CPU_KERNEL void avg_pool_blocks(__global const STORED* restrict x, const ulong x_offset, __global STORED* restrict y,
                                const ulong y_offset, const long planes, const PoolWindow w, const int include_pad) {
  FOR_EACH_OUTPUT(at) {
    WINDOW_OF(at);
    floatv sum = (floatv)(0.0f);
    NO_UNROLL
    for (int r = r0; r < r1; ++r) {
      __global const STORED* line = src + (long)(h0 + r) * w.width * VW;
      NO_UNROLL
      for (int s = s0; s < s1; ++s) sum += LOAD_MANY(STORED, line + (w0 + s) * VW);
    }
    STORE_MANY(STORED, y + y_offset + at * VW, sum / elements_of_window(&w, oh, ow, include_pad, 0));
  }
}
