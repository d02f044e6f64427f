// What conv2d_block.cl and conv2d_block_weight.cl read beside the tensors, worked out once instead of in their loops.
#include "common/conv_taps.h"

// An element (channel, r, s) of the depth of a convolution with `taps_h` x `taps_w` taps.
typedef struct {
  uint channel, r, s;
} Element;

INLINE Element element_of(uint k, uint taps_h, uint taps_w) {
  const uint above = k / taps_w, channel = above / taps_h;
  const Element e = {channel, above - channel * taps_h, k - above * taps_w};
  return e;
}

// The table of conv2d_block.cl, an element of the depth each work-item; those from `depth` on are no taps.
// window = (taps_h, taps_w, distance of channels of src, of rows of taps, of columns of taps, unused …).
__kernel void conv2d_block_table(__global int* restrict table, const ulong table_offset, const int count,
                                 const int depth, const long8 window) {
  const int k = (int)get_global_id(0);
  if (k >= count) return;
  __global int* to = table + table_offset + k / 4 * 8 + k % 4;
  if (k >= depth) {
    to[0] = 0;
    to[4] = (int)NO_TAP;
    return;
  }
  const Element e = element_of((uint)k, (uint)window.s0, (uint)window.s1);
  to[0] = (int)e.channel * (int)window.s2 + (int)e.r * (int)window.s3 + (int)e.s * (int)window.s4;
  to[4] = (int)tap_bits(e.r, e.s);
}

// A of conv2d_block.cl where the weight itself cannot be read as such: rows of packed_depth elements, zeros behind `depth`.
//
//   packed[group][i][(channel, r, s)] = w[group * s0 + i * s1 + channel * s2 + r * s3 + s * s4]       of strides
//
// A work-item each; m rows a group.
__kernel void conv2d_block_pack(__global const float* restrict w, const ulong w_offset, __global float* restrict packed,
                                const ulong packed_offset, const uint count, const uint m, const uint depth,
                                const uint packed_depth, const uint taps_h, const uint taps_w, const long8 strides) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint row = id / packed_depth, k = id - row * packed_depth, group = row / m, i = row - group * m;
  float value = 0.0f;
  if (k < depth) {
    const Element e = element_of(k, taps_h, taps_w);
    value = w[w_offset + group * strides.s0 + i * strides.s1 + e.channel * strides.s2 + e.r * strides.s3 +
              e.s * strides.s4];
  }
  packed[packed_offset + id] = value;
}

// The table of conv2d_block_weight.cl: for the pixels of `images` images of the result, a work-item each, how far their
// first tap lies from the beginning of x, the taps that lie outside, and how far the pixel lies in dy.
//
// plane = (height, width, taps_h, taps_w, OH * OW, OW, distance of images of x, of dy),
// walk = (step_h, step_w, start_h, start_w, tap_h, tap_w, unused …).
__kernel void conv2d_block_pixels(__global int4* restrict table, const ulong table_offset, const int count,
                                  const long8 plane, const long8 walk) {
  const uint id = (uint)get_global_id(0);
  if (id >= (uint)count) return;
  const uint image = id / (uint)plane.s4, pixel = id - image * (uint)plane.s4;
  const uint oh = pixel / (uint)plane.s5, ow = pixel - oh * (uint)plane.s5;
  const int h = (int)oh * (int)walk.s0 + (int)walk.s2, w = (int)ow * (int)walk.s1 + (int)walk.s3;
  const uint outside =
      taps_outside(h, w, (int)walk.s4, (int)walk.s5, (int)plane.s2, (int)plane.s3, (int)plane.s0, (int)plane.s1);
  table[table_offset / 4 + id] = (int4)((int)image * (int)plane.s6 + h * (int)plane.s1 + w, (int)outside,
                                        (int)image * (int)plane.s7 + (int)pixel, 0);
}
