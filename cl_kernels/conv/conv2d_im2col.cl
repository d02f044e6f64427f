// Copies the patches of images into a matrix, and back. So a GEMM that takes plain matrices computes a
// convolution.
//
//   columns[image * p.image + row * p.row + i * OW + j] = x[image][channel][i stride_h + r dil_h - pad_h][…]
//
// row = (channel, r, s) over `channels` channels. x points to the first channel. (i, j) is an output position. The
// value is zero outside the image. x is contiguous, and its images are p.x_image apart. There are fewer than 2^31
// elements, so that 32-bit divisions are enough for indices. A 64-bit division takes a hundred instructions or more.
#include "common/vector.h"
#include "conv/parameters.h"

// Returns the index along an axis of `size` for the flat index *rest. *rest becomes the flat index over the outer axes.
INLINE uint take(uint* rest, uint size) {
  const uint outer = *rest / size, index = *rest - outer * size;
  *rest = outer;
  return index;
}

// One work-item for each element of the matrices of all images.
__kernel void im2col(__global const float* restrict x, const ulong x_offset, __global float* restrict columns,
                     const ulong columns_offset, const uint count, const ColumnsParameters p, const ConvWindow window) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  uint image = id;
  const uint j = take(&image, (uint)p.out_w);
  const uint i = take(&image, (uint)p.out_h);
  const uint s = take(&image, (uint)window.taps_w);
  const uint r = take(&image, (uint)window.taps_h);
  const uint channel = take(&image, (uint)p.channels);
  const uint row = (channel * (uint)window.taps_h + r) * (uint)window.taps_w + s;
  const int h = (int)(i * (uint)window.stride_h + r * (uint)window.dilation_h) - window.pad_h;
  const int w = (int)(j * (uint)window.stride_w + s * (uint)window.dilation_w) - window.pad_w;
  const bool inside = (uint)h < (uint)p.height && (uint)w < (uint)p.width;
  const float value = x[x_offset + image * p.x_image + (inside ? ((int)channel * p.height + h) * p.width + w : 0)];
  columns[columns_offset + image * p.image + row * p.row + i * (uint)p.out_w + j] = inside ? value : 0.0f;
}

// im2col for CPUs. A work-item writes neighbouring units (row, image, i) of OW elements. It counts its position up
// instead of dividing.
CPU_KERNEL void im2col_rows(__global const float* restrict x, const ulong x_offset, __global float* restrict columns,
                            const ulong columns_offset, const uint units, const ColumnsParameters p,
                            const ConvWindow window) {
  x += x_offset;
  columns += columns_offset;
  const ulong item = get_global_id(0), items = get_global_size(0);
  const int end = (int)(units * (item + 1) / items);
  int unit = (int)(units * item / items), rest = unit;
  int i = rest % p.out_h;
  rest /= p.out_h;
  int image = rest % p.images;
  rest /= p.images;
  int s = rest % window.taps_w;
  rest /= window.taps_w;
  int r = rest % window.taps_h;
  int channel = rest / window.taps_h;
  NO_UNROLL
  for (; unit < end; ++unit) {
    const int h = i * window.stride_h + r * window.dilation_h - window.pad_h;
    const int w_first = s * window.dilation_w - window.pad_w;
    const int width = h >= 0 && h < p.height ? p.width : 0;  // Outside of the image all elements are zero.
    __global const float* from = x + image * p.x_image + ((long)channel * p.height + h) * p.width;
    __global float* to =
        columns + image * p.image + ((channel * window.taps_h + r) * window.taps_w + s) * p.row + (long)i * p.out_w;
    NO_UNROLL
    for (int j = 0, w = w_first; j < p.out_w; ++j, w += window.stride_w) to[j] = w >= 0 && w < width ? from[w] : 0.0f;
    if (++i < p.out_h) continue;
    i = 0;
    if (++image < p.images) continue;
    image = 0;
    if (++s < window.taps_w) continue;
    s = 0;
    if (++r < window.taps_h) continue;
    r = 0;
    ++channel;
  }
}

// The output whose window has a tap at `position` = output * stride. It is -1 if none of the outputs 0 … count-1 has
// this position.
INLINE int output_of(int position, uint stride, int count) {
  const int output = (int)((uint)position / stride);
  return position >= 0 && output < count && output * (int)stride == position ? output : -1;
}

// One work-item for each element of x. The element becomes the sum of all matrix elements to which im2col would copy
// it.
__kernel void col2im(__global const float* restrict columns, const ulong columns_offset, __global float* restrict x,
                     const ulong x_offset, const uint count, const ColumnsParameters p, const ConvWindow window) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  uint image = id;
  const uint w = take(&image, (uint)p.width);
  const uint h = take(&image, (uint)p.height);
  const uint channel = take(&image, (uint)p.channels);
  const int taps_h = window.taps_h, taps_w = window.taps_w;
  columns += columns_offset + image * p.image + channel * (taps_h * taps_w) * p.row;
  float sum = 0.0f;
  for (int r = 0; r < taps_h; ++r) {
    const int i = output_of((int)h + window.pad_h - r * window.dilation_h, (uint)window.stride_h, p.out_h);
    if (i < 0) continue;
    for (int s = 0; s < taps_w; ++s) {
      const int j = output_of((int)w + window.pad_w - s * window.dilation_w, (uint)window.stride_w, p.out_w);
      if (j >= 0) sum += columns[(r * taps_w + s) * p.row + i * p.out_w + j];
    }
  }
  x[x_offset + image * p.x_image + ((long)channel * p.height + h) * p.width + w] = sum;
}
