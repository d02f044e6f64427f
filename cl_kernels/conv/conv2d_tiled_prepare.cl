// Computes what the tiles of convolutions read in addition to the tensors. It is computed once, and not in the loops of
// the tiles.
#include "conv/conv_taps.h"
#include "conv/parameters.h"

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
__kernel void conv2d_tiled_table(__global int2* restrict table, const ulong table_offset, const TableParameters p) {
  const int id = (int)get_global_id(0);
  if (id >= p.count) return;
  if (id >= p.entries) {
    table[table_offset / 2 + id] = (int2)(0, (int)NO_TAP);
    return;
  }
  const Entry e = entry_of((uint)id, (uint)p.taps_h, (uint)p.taps_w, (uint)p.channel_vector);
  const uint shift = e.channel * (uint)p.channel + e.r * (uint)p.row + e.s * (uint)p.column;
  table[table_offset / 2 + id] = (int2)((int)(shift * 4), (int)tap_bits(e.r, e.s));
}

// A of conv2d_tiled.cl, for a weight that cannot be read in place. The entries of a row from `entries` on are zeros.
//
//   packed[group][i][(entry, j)] = w[group * p.group + i * p.line + (channel + j) * p.channel + r * p.row + s * p.column]
//
// One work-item for each entry. A group has m rows.
__kernel void conv2d_tiled_pack(__global const float* restrict w, const ulong w_offset, __global float* restrict packed,
                                const ulong packed_offset, const PackParameters p) {
  const uint id = (uint)get_global_id(0), together = (uint)p.channel_vector;
  if (id >= (uint)p.count) return;
  const uint row = id / (uint)p.row_entries, entry = id - row * (uint)p.row_entries;
  const uint group = row / (uint)p.m, i = row - group * (uint)p.m;
  packed += packed_offset + (ulong)id * together;
  if (entry >= (uint)p.entries) {
    for (uint j = 0; j < together; ++j) packed[j] = 0.0f;
    return;
  }
  const Entry e = entry_of(entry, (uint)p.taps_h, (uint)p.taps_w, together);
  w += w_offset + (long)group * p.group + (long)i * p.line + (long)e.channel * p.channel + (long)e.r * p.row +
       (long)e.s * p.column;
  for (uint j = 0; j < together; ++j) packed[j] = w[(long)j * p.channel];
}

// The table of conv/pixels_reader.h for `count` pixels of the result, one work-item for each pixel. An entry has the
// bytes from the start of x to the pixel's first tap, the taps that are outside the plane, and the bytes from the start
// of dy to the pixel. x is the src of `p`, and dy_image is the distance of images of dy.
__kernel void conv2d_tiled_pixels(__global int4* restrict table, const ulong table_offset, const PatchesParameters p,
                                  const int dy_image, const int count) {
  const uint id = (uint)get_global_id(0);
  if (id >= (uint)count) return;
  const uint pixels = (uint)p.pixels, pixels_w = (uint)p.pixels_w;
  const uint image = id / pixels, pixel = id - image * pixels, oh = pixel / pixels_w, ow = pixel - oh * pixels_w;
  const int h = (int)oh * p.step_h + p.start_h, w = (int)ow * p.step_w + p.start_w;
  const uint outside = taps_outside(h, w, p.tap_h, p.tap_w, p.taps_h, p.taps_w, p.height, p.width);
  const uint in_x = image * (uint)p.image + (uint)(h * p.width + w), in_dy = image * (uint)dy_image + pixel;
  table[table_offset / 4 + id] = (int4)((int)(in_x * 4), (int)outside, (int)(in_dy * 4), 0);
}
