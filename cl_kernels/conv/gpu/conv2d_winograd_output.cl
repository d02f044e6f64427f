// Winograd's filtering on GPUs, last part: y tile = f(A' M A (+ bias)). M[position][output][tile] are the products, and
// f is the epilogue of product/epilogue.h. A work-item computes one tile of one output. The first part is
// conv2d_winograd_tiles.cl.
#include "conv/parameters.h"
#include "product/target.h"
#include "conv/gpu/winograd_tile.h"

// `p` has the sizes of the planes of y. With VEC_C = 4, TILE is 4 and the width is a multiple of 4.
__kernel void winograd_output(__global const float* restrict m, const ulong m_offset, __global const float* restrict bias,
                              const ulong bias_offset, __global float* restrict y, const ulong y_offset,
                              EPILOGUE_PARAMETERS, const uint count, const WinogradTiles p, const int flags) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint output = id / (uint)p.stride, tile = id - output * (uint)p.stride;
  if (tile >= (uint)p.tiles) return;
  const uint row = tile / (uint)p.tiles_w, image = row / (uint)p.tiles_h;
  const int out_h = p.height, out_w = p.width;
  const int h = (int)(row - image * (uint)p.tiles_h) * TILE, w = (int)(tile - row * (uint)p.tiles_w) * TILE;
  m += m_offset + id;
  float d[SIDE][SIDE];
  UNROLL
  for (int i = 0; i < POSITIONS; ++i) d[i / SIDE][i % SIDE] = m[i * (long)count];
  TRANSFORM(d, line_output, SIDE, TILE)
  const long plane = (long)out_h * out_w, to = image * (p.channels * plane) + (long)h * out_w + w;
  const Target target = {y + y_offset, bias + bias_offset, plane, 1, flags};
  const Finish finish = FINISH_OF(0);
  UNROLL
  for (int i = 0; i < TILE; ++i) {
    if (h + i >= out_h) continue;
#if VEC_C == 4
    store_sums(vload4(0, d[i]), output, to + (long)i * out_w, &target, &finish);
#else
    UNROLL
    for (int j = 0; j < TILE; ++j)
      if (w + j < out_w) store_sums(d[i][j], output, to + (long)i * out_w + j, &target, &finish);
#endif
  }
}
