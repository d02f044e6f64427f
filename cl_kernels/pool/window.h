// The windows of poolings: their taps, and the elements of planes, which are stored as STORED.
#include "common/element.h"
#include "pool/parameters.h"

// The taps first … end-1 of a window are inside 0 … size-1. The window starts at `start`, which may be negative.
static inline int first_tap(int start, int dilation) { return start < 0 ? (dilation - 1 - start) / dilation : 0; }
static inline int end_tap(int start, int dilation, int kernel_size, int size) {
  return min(kernel_size, (size - start + dilation - 1) / dilation);
}

// Divides in 32 bits if the dividend is small, because a 64-bit division takes some hundred instructions on a GPU.
static inline long divide_index(long a, int b) { return a >> 31 == 0 ? (long)((uint)a / (uint)b) : a / b; }

// The place of an element in planes [planes][height][width].
typedef struct {
  long plane;
  int row, column;
} PlaceInPlanes;

static inline PlaceInPlanes place_in_planes(long i, int height, int width) {
  const long row = divide_index(i, width);
  PlaceInPlanes at;
  at.plane = divide_index(row, height);
  at.row = (int)(row - at.plane * height);
  at.column = (int)(i - row * width);
  return at;
}

// The windows h0 … h1-1, w0 … w1-1, among which are all windows that cover an element of the plane. Without dilation
// all of them cover it.
typedef struct {
  int h0, h1, w0, w1;
} Windows;

static inline int first_window(int position, int pad, int extent, int stride) {
  const int behind = position + pad - extent + 1;
  return behind > 0 ? (behind + stride - 1) / stride : 0;
}
static inline int end_window(int position, int pad, int stride, int count) {
  return min(count, (position + pad) / stride + 1);
}
static inline Windows windows_at(const PoolWindow* w, int row, int column) {
  Windows of;
  of.h0 = first_window(row, w->pad_h, w->dilation_h * (w->kernel_h - 1) + 1, w->stride_h);
  of.h1 = end_window(row, w->pad_h, w->stride_h, w->out_h);
  of.w0 = first_window(column, w->pad_w, w->dilation_w * (w->kernel_w - 1) + 1, w->stride_w);
  of.w1 = end_window(column, w->pad_w, w->stride_w, w->out_w);
  return of;
}
