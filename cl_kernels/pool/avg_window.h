// The divisor of a window's sum in average pooling (PyTorch's rules), without dilation.
#include "pool/window.h"

// `divisor` if it is not 0, else the number of the window's elements. With include_pad = 1 the elements in the padding
// count too. With ceil_mode, a last window may reach beyond the padding. Its elements beyond the padding do not count.
static inline float elements_of_window(const PoolWindow* w, int oh, int ow, int include_pad, int divisor) {
  if (divisor != 0) return (float)divisor;
  const int h0 = oh * w->stride_h - w->pad_h;
  const int w0 = ow * w->stride_w - w->pad_w;
  const int pad_h = include_pad ? w->pad_h : 0;
  const int pad_w = include_pad ? w->pad_w : 0;
  const int tall = min(h0 + w->kernel_h, w->height + pad_h) - max(h0, -pad_h);
  const int wide = min(w0 + w->kernel_w, w->width + pad_w) - max(w0, -pad_w);
  return (float)tall * (float)wide;
}

static inline float average_of_window(__global const STORED* plane, const PoolWindow* w, int oh, int ow,
                                      int include_pad, int divisor) {
  const int h0 = oh * w->stride_h - w->pad_h;
  const int w0 = ow * w->stride_w - w->pad_w;
  const int h1 = min(h0 + w->kernel_h, w->height);
  const int w1 = min(w0 + w->kernel_w, w->width);
  float sum = 0.0f;
  for (int h = max(h0, 0); h < h1; ++h)
    for (int column = max(w0, 0); column < w1; ++column) sum += LOAD(STORED, plane, h * w->width + column);
  return sum / elements_of_window(w, oh, ow, include_pad, divisor);
}
