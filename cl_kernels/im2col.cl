// The patches of images as a matrix, and back: what turns a convolution into a GEMM where that GEMM takes plain matrices.
//
//   columns[image * image_stride + row * row_stride + i * OW + j] = x[image][channel][i stride_h + r dil_h - pad_h][…]
//
// row = (channel, r, s) over `channels` channels of x from its first on, (i, j) an output position, zero outside the
// image. x is contiguous with images x_image apart. sizes and window as in conv2d_direct.cl.
#include "common/conv.h"

// One work-item an element of the matrices of all images.
__kernel void im2col(__global const float* restrict x, const ulong x_offset, __global float* restrict columns,
                     const ulong columns_offset, const long count, const long channels, const long x_image,
                     const long image_stride, const long row_stride, const long8 sizes, const long8 window) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const Conv v = conv_of(sizes, window);
  const long j = id % v.out_w;
  const long i = id / v.out_w % v.out_h;
  const long row = id / (v.out_w * v.out_h) % (channels * v.r * v.s);
  const long image = id / (v.out_w * v.out_h * channels * v.r * v.s);
  const int s = (int)(row % v.s);
  const int r = (int)(row / v.s % v.r);
  const long channel = row / (v.s * v.r);
  const long h = i * v.stride_h - v.pad_h + r * v.dil_h;
  const long w = j * v.stride_w - v.pad_w + s * v.dil_w;
  const bool inside = h >= 0 && h < v.height && w >= 0 && w < v.width;
  columns[columns_offset + image * image_stride + row * row_stride + i * v.out_w + j] =
      inside ? x[x_offset + image * x_image + (channel * v.height + h) * v.width + w] : 0.0f;
}

// One work-item an element of x, which becomes the sum of all elements of the matrix that im2col would copy it to.
__kernel void col2im(__global const float* restrict columns, const ulong columns_offset, __global float* restrict x,
                     const ulong x_offset, const long count, const long channels, const long x_image,
                     const long image_stride, const long row_stride, const long8 sizes, const long8 window) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const Conv v = conv_of(sizes, window);
  const long w = id % v.width;
  const long h = id / v.width % v.height;
  const long channel = id / (v.width * v.height) % channels;
  const long image = id / (v.width * v.height * channels);
  columns += columns_offset + image * image_stride + channel * v.r * v.s * row_stride;
  float sum = 0.0f;
  for (int r = 0; r < v.r; ++r) {
    const long at_h = h + v.pad_h - r * v.dil_h;
    const long i = at_h / v.stride_h;
    if (at_h < 0 || at_h % v.stride_h != 0 || i >= v.out_h) continue;
    for (int s = 0; s < v.s; ++s) {
      const long at_w = w + v.pad_w - s * v.dil_w;
      const long j = at_w / v.stride_w;
      if (at_w >= 0 && at_w % v.stride_w == 0 && j < v.out_w)
        sum += columns[(r * v.s + s) * row_stride + i * v.out_w + j];
    }
  }
  x[x_offset + image * x_image + (channel * v.height + h) * v.width + w] = sum;
}
