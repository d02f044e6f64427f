// Computes the tables that the tiles of convolutions read in addition to the tensors. A table is computed once, so that
// the loops of the tiles need no divisions.
#include "common/element.h"
#include "conv/gpu/window.h"
#include "product/gpu/storage.h"

#ifndef SRC_STORAGE  // How the images are stored (product/gpu/storage.h). Tables count bytes.
#define SRC_STORAGE STORAGE_F32
#endif

// The table of gpu/patches_reader.h, one work-item for each entry. Entries have the order (channels, q, r, s), and an
// entry stands for channel_vector channels. Entries from `entries` on have no tap.
__kernel void conv2d_tiled_table(__global int2* restrict table, const ulong table_offset, const TableParameters p) {
  const int id = (int)get_global_id(0);
  if (id >= p.count) return;
  if (id >= p.entries) {
    table[table_offset / 2 + id] = (int2)(0, (int)NO_TAP);
    return;
  }
  Tap tap;
  const uint channels = find_tap((uint)id, (uint)p.taps_d, (uint)p.taps_h, (uint)p.taps_w, &tap);
  const uint shift = channels * (uint)p.channel_vector * (uint)p.channel + tap.q * (uint)p.slice + tap.r * (uint)p.row +
                     tap.s * (uint)p.column;
  table[table_offset / 2 + id] = (int2)((int)(shift * STORED_BYTES(SRC_STORAGE)), (int)tap_bits(&tap));
}

// A of conv2d_tiled.cl, for a weight of STORED that cannot be read in place. The entries of a row from `entries` on are
// zeros.
//
//   packed[group][i][(entry, j)] =
//       w[group * p.group + i * p.line + (channel + j) * p.channel + q * p.slice + r * p.row + s * p.column]
//
// One work-item for each entry. A group has m rows.
__kernel void conv2d_tiled_pack(__global const STORED* restrict w, const ulong w_offset,
                                __global float* restrict packed, const ulong packed_offset, const PackParameters p) {
  const uint id = (uint)get_global_id(0), channel_vector = (uint)p.channel_vector;
  if (id >= (uint)p.count) return;
  const uint row = id / (uint)p.row_entries, entry = id - row * (uint)p.row_entries;
  const uint group = row / (uint)p.m, i = row - group * (uint)p.m;
  packed += packed_offset + (ulong)id * channel_vector;
  if (entry >= (uint)p.entries) {
    for (uint j = 0; j < channel_vector; ++j) packed[j] = 0.0f;
    return;
  }
  Tap tap;
  const uint channels = find_tap(entry, (uint)p.taps_d, (uint)p.taps_h, (uint)p.taps_w, &tap);
  w += w_offset + (long)group * p.group + (long)i * p.line + (long)(channels * channel_vector) * p.channel +
       (long)tap.q * p.slice + (long)tap.r * p.row + (long)tap.s * p.column;
  for (uint j = 0; j < channel_vector; ++j) packed[j] = LOAD(STORED, w, (long)j * p.channel);
}

// The table of gpu/pixels.h for `count` pixels of the result, one work-item for each pixel. An entry has the distance
// in bytes from the start of x to the pixel's first tap, the taps that are outside of the plane, and the distance in
// bytes from the start of dy to the pixel. x is the src of `p`. Images of dy are dy_image apart.
__kernel void conv2d_tiled_pixels(__global int4* restrict table, const ulong table_offset, const PatchesParameters p,
                                  const WindowParameters w, const int dy_image, const int count) {
  const uint id = (uint)get_global_id(0), bytes = STORED_BYTES(SRC_STORAGE);
  if (id >= (uint)count) return;
  const uint image = id / (uint)p.pixels, pixel = id - image * (uint)p.pixels;
  uint outside;
  const int element = first_element(pixel, &p, &w, &outside);
  const uint in_x = image * (uint)p.image + (uint)element, in_dy = image * (uint)dy_image + pixel;
  table[table_offset / 4 + id] = (int4)((int)(in_x * bytes), (int)outside, (int)(in_dy * bytes), 0);
}
