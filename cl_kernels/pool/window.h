// Windows that slide over the planes of an image batch [planes][height][width], one output per window:
// output (oh, ow) covers the taps h = oh * stride_h - pad_h + r * dil_h, w = ow * stride_w - pad_w + s * dil_w with
// r < kernel_h, s < kernel_w. Taps outside the plane do not exist.
typedef struct {
  int height, width, out_h, out_w;
  int kernel_h, kernel_w, stride_h, stride_w;
  int pad_h, pad_w, dil_h, dil_w;
} Window;

// Made from the kernel arguments `sizes` = (height, width, out_h, out_w, pad_h, pad_w) and `taps` = (kernel_h,
// kernel_w, stride_h, stride_w, dil_h, dil_w).
static inline Window window_of(long8 sizes, long8 taps) {
  Window w;
  w.height = (int)sizes.s0;
  w.width = (int)sizes.s1;
  w.out_h = (int)sizes.s2;
  w.out_w = (int)sizes.s3;
  w.pad_h = (int)sizes.s4;
  w.pad_w = (int)sizes.s5;
  w.kernel_h = (int)taps.s0;
  w.kernel_w = (int)taps.s1;
  w.stride_h = (int)taps.s2;
  w.stride_w = (int)taps.s3;
  w.dil_h = (int)taps.s4;
  w.dil_w = (int)taps.s5;
  return w;
}

// The taps first … end-1 of a window are inside 0 … size-1. The window starts at `start`, which may be negative.
static inline int first_tap(int start, int dilation) { return start < 0 ? (dilation - 1 - start) / dilation : 0; }
static inline int end_tap(int start, int dilation, int kernel_size, int size) {
  return min(kernel_size, (size - start + dilation - 1) / dilation);
}

// Only the windows first … end-1 along an axis can cover `position`. Without dilation all of them do.
static inline int first_window(int position, int pad, int extent, int stride) {
  const int behind = position + pad - extent + 1;
  return behind > 0 ? (behind + stride - 1) / stride : 0;
}
static inline int end_window(int position, int pad, int stride, int count) {
  return min(count, (position + pad) / stride + 1);
}

// A 64-bit division takes some hundred instructions on a GPU, so a small dividend is divided in 32 bits.
static inline long divide_index(long a, int b) { return a >> 31 == 0 ? (long)((uint)a / (uint)b) : a / b; }
