// Computes what the tiles of convolutions read in addition to the tensors. It is computed once, and not in the loops of
// the tiles.
#include "conv/conv_taps.h"

// One entry of the depth of a convolution that has `taps_h` x `taps_w` taps. Entries are counted (channels, r, s), and
// each has `together` channels. entry_of gives the first of its channels, and its tap.
typedef struct {
  uint channel, r, s;
} Entry;

INLINE Entry entry_of(uint entry, uint taps_h, uint taps_w, uint together) {
  const uint above = entry / taps_w, channels = above / taps_h;
  const Entry e = {channels * together, above - channels * taps_h, entry - above * taps_w};
  return e;
}

// The table of conv/patches_reader.h, one work-item for each entry. Entries from `entries` on are not taps.
// window = (taps_h, taps_w, distance of channels of src, of rows of taps, of columns of taps, unused …).
__kernel void conv2d_tiled_table(__global int2* restrict table, const ulong table_offset, const int count,
                                 const int entries, const int together, const long8 window) {
  const int id = (int)get_global_id(0);
  if (id >= count) return;
  if (id >= entries) {
    table[table_offset / 2 + id] = (int2)(0, (int)NO_TAP);
    return;
  }
  const Entry e = entry_of((uint)id, (uint)window.s0, (uint)window.s1, (uint)together);
  const uint shift = e.channel * (uint)window.s2 + e.r * (uint)window.s3 + e.s * (uint)window.s4;
  table[table_offset / 2 + id] = (int2)((int)(shift * 4), (int)tap_bits(e.r, e.s));
}

// A of conv2d_tiled.cl, for a weight that cannot be read in place. A row has row_entries entries. The entries from
// `entries` on are zeros.
//
//   packed[group][i][(entry, j)] = w[group * s0 + i * s1 + (channel + j) * s2 + r * s3 + s * s4]
//
// s0 … s4 are `strides`. One work-item for each entry. A group has m rows.
__kernel void conv2d_tiled_pack(__global const float* restrict w, const ulong w_offset, __global float* restrict packed,
                                const ulong packed_offset, const uint count, const uint m, const uint entries,
                                const uint row_entries, const uint together, const uint taps_h, const uint taps_w,
                                const long8 strides) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint row = id / row_entries, entry = id - row * row_entries, group = row / m, i = row - group * m;
  packed += packed_offset + (ulong)id * together;
  if (entry >= entries) {
    for (uint j = 0; j < together; ++j) packed[j] = 0.0f;
    return;
  }
  const Entry e = entry_of(entry, taps_h, taps_w, together);
  w += w_offset + group * strides.s0 + i * strides.s1 + e.channel * strides.s2 + e.r * strides.s3 + e.s * strides.s4;
  for (uint j = 0; j < together; ++j) packed[j] = w[j * strides.s2];
}

// The table of conv/pixels_reader.h for `count` pixels of the result, one work-item for each pixel. An entry has the
// bytes from the start of x to the pixel's first tap, the taps that are outside the plane, and the bytes from the start
// of dy to the pixel.
//
// plane = (height, width, taps_h, taps_w, OH * OW, OW, distance of images of x, of dy),
// walk = (step_h, step_w, start_h, start_w, tap_h, tap_w, unused …).
__kernel void conv2d_tiled_pixels(__global int4* restrict table, const ulong table_offset, const int count,
                                  const long8 plane, const long8 walk) {
  const uint id = (uint)get_global_id(0);
  if (id >= (uint)count) return;
  const uint image = id / (uint)plane.s4, pixel = id - image * (uint)plane.s4;
  const uint oh = pixel / (uint)plane.s5, ow = pixel - oh * (uint)plane.s5;
  const int h = (int)oh * (int)walk.s0 + (int)walk.s2, w = (int)ow * (int)walk.s1 + (int)walk.s3;
  const uint outside =
      taps_outside(h, w, (int)walk.s4, (int)walk.s5, (int)plane.s2, (int)plane.s3, (int)plane.s0, (int)plane.s1);
  const uint in_x = image * (uint)plane.s6 + (uint)(h * (int)plane.s1 + w), in_dy = image * (uint)plane.s7 + pixel;
  table[table_offset / 4 + id] = (int4)((int)(in_x * 4), (int)outside, (int)(in_dy * 4), 0);
}
