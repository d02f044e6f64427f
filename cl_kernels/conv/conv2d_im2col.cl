// The patches of images as a matrix, and back. This turns a convolution into a GEMM, for GEMMs that take plain
// matrices.
//
//   columns[image * p.image + row * p.row + i * OW + j] = x[image][channel][i stride_h + r dil_h - pad_h][…]
//
// row = (channel, r, s) over `channels` channels, where x starts at the first of them. (i, j) is an output position.
// The value is zero outside the image. x is contiguous, and its images are p.x_image apart. There are fewer than 2^31
// elements, so that 32-bit divisions are enough for indices. A 64-bit division takes a hundred instructions or more.
#include "common/inline.h"
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

// The output that has a tap at `position` = output * stride. It is -1 if none of the outputs 0 … count-1 has this
// position.
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
