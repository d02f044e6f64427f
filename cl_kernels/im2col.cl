// The patches of images as a matrix, and back: what turns a convolution into a GEMM where that GEMM takes plain matrices.
//
//   columns[image * image_stride + row * row_stride + i * OW + j] = x[image][channel][i stride_h + r dil_h - pad_h][…]
//
// row = (channel, r, s) over `channels` channels of x from its first on, (i, j) an output position, zero outside the
// image. x is contiguous with images x_image apart. sizes and window as in common/conv.h.
#include "common/conv.h"

// One work-item an element of the matrices of all images.
__kernel void im2col(__global const float* restrict x, const ulong x_offset, __global float* restrict columns,
                     const ulong columns_offset, const long count, const long channels, const long x_image,
                     const long image_stride, const long row_stride, const long8 sizes, const long8 window) {
  const long id = get_global_id(0);
  if (id >= count) return;
  const Conv v = conv_of(sizes, window);
  long image = id;
  const long j = take_index(&image, v.out_w);
  const long i = take_index(&image, v.out_h);
  const int s = (int)take_index(&image, v.s);
  const int r = (int)take_index(&image, v.r);
  const long channel = take_index(&image, channels);
  const long row = (channel * v.r + r) * v.s + s;
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
  long image = id;
  const long w = take_index(&image, v.width);
  const long h = take_index(&image, v.height);
  const long channel = take_index(&image, channels);
  columns += columns_offset + image * image_stride + channel * v.r * v.s * row_stride;
  float sum = 0.0f;
  for (int r = 0; r < v.r; ++r) {
    const long i = output_at(h + v.pad_h - r * v.dil_h, v.stride_h, v.out_h);
    if (i < 0) continue;
    for (int s = 0; s < v.s; ++s) {
      const long j = output_at(w + v.pad_w - s * v.dil_w, v.stride_w, v.out_w);
      if (j >= 0)
        sum += columns[(r * v.s + s) * row_stride + i * v.out_w + j];
    }
  }
  x[x_offset + image * x_image + (channel * v.height + h) * v.width + w] = sum;
}
