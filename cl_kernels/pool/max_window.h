// The largest element of one window and its position in the plane, as PyTorch chooses it: the first of equal elements,
// or the last NaN if there is one.
#include "pool/window.h"

// The type of indices in memory: int or ushort.
#ifndef INDEX
#define INDEX int
#endif

static inline float max_of_window(__global const STORED* plane, const PoolWindow* w, int oh, int ow, int* position) {
  const int h0 = oh * w->stride_h - w->pad_h;
  const int w0 = ow * w->stride_w - w->pad_w;
  const int r0 = first_tap(h0, w->dilation_h);
  const int r1 = end_tap(h0, w->dilation_h, w->kernel_h, w->height);
  const int s0 = first_tap(w0, w->dilation_w);
  const int s1 = end_tap(w0, w->dilation_w, w->kernel_w, w->width);
  float best = -INFINITY;
  int at = (h0 + r0 * w->dilation_h) * w->width + w0 + s0 * w->dilation_w;
  for (int r = r0; r < r1; ++r)
    for (int s = s0; s < s1; ++s) {
      const int here = (h0 + r * w->dilation_h) * w->width + w0 + s * w->dilation_w;
      const float x = LOAD(STORED, plane, here);
      const bool take = x > best || isnan(x);
      best = take ? x : best;
      at = take ? here : at;
    }
  *position = at;
  return best;
}
