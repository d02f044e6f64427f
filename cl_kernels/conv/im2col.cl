// The patches of images as a matrix, and back. This turns a convolution into a GEMM, for GEMMs that take plain
// matrices.
//
//   columns[image * image_stride + row * row_stride + i * OW + j] = x[image][channel][i stride_h + r dil_h - pad_h][…]
//
// row = (channel, r, s) over `channels` channels, where x starts at the first of them. (i, j) is an output position.
// The value is zero outside the image. x is contiguous, and its images are x_image apart. sizes = (H, W, OH, OW, R, S,
// unused …), window = (stride, padding, dilation: h and w each). There are fewer than 2^31 elements, so that 32-bit
// divisions are enough for indices. A 64-bit division takes a hundred instructions or more.
#include "common/inline.h"

// Returns the index along an axis of `size` for the flat index *rest. *rest becomes the flat index over the outer axes.
INLINE uint take(uint* rest, uint size) {
  const uint outer = *rest / size, index = *rest - outer * size;
  *rest = outer;
  return index;
}

// One work-item for each element of the matrices of all images.
__kernel void im2col(__global const float* restrict x, const ulong x_offset, __global float* restrict columns,
                     const ulong columns_offset, const uint count, const uint channels, const long x_image,
                     const long image_stride, const long row_stride, const long8 sizes, const long8 window) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const int height = (int)sizes.s0, width = (int)sizes.s1;
  uint image = id;
  const uint j = take(&image, (uint)sizes.s3);
  const uint i = take(&image, (uint)sizes.s2);
  const uint s = take(&image, (uint)sizes.s5);
  const uint r = take(&image, (uint)sizes.s4);
  const uint channel = take(&image, channels);
  const uint row = (channel * (uint)sizes.s4 + r) * (uint)sizes.s5 + s;
  const int h = (int)(i * (uint)window.s0 + r * (uint)window.s4) - (int)window.s2;
  const int w = (int)(j * (uint)window.s1 + s * (uint)window.s5) - (int)window.s3;
  const bool inside = (uint)h < (uint)height && (uint)w < (uint)width;
  const float value = x[x_offset + image * x_image + (inside ? ((int)channel * height + h) * width + w : 0)];
  columns[columns_offset + image * image_stride + row * row_stride + i * (uint)sizes.s3 + j] = inside ? value : 0.0f;
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
                     const ulong x_offset, const uint count, const uint channels, const long x_image,
                     const long image_stride, const long row_stride, const long8 sizes, const long8 window) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  uint image = id;
  const uint w = take(&image, (uint)sizes.s1);
  const uint h = take(&image, (uint)sizes.s0);
  const uint channel = take(&image, channels);
  const int taps_h = (int)sizes.s4, taps_w = (int)sizes.s5;
  columns += columns_offset + image * image_stride + channel * (taps_h * taps_w) * row_stride;
  float sum = 0.0f;
  for (int r = 0; r < taps_h; ++r) {
    const int i = output_of((int)h + (int)window.s2 - r * (int)window.s4, (uint)window.s0, (int)sizes.s2);
    if (i < 0) continue;
    for (int s = 0; s < taps_w; ++s) {
      const int j = output_of((int)w + (int)window.s3 - s * (int)window.s5, (uint)window.s1, (int)sizes.s3);
      if (j >= 0) sum += columns[(r * taps_w + s) * row_stride + i * (int)sizes.s3 + j];
    }
  }
  x[x_offset + image * x_image + ((long)channel * sizes.s0 + h) * sizes.s1 + w] = sum;
}
