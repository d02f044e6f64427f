// Winograd's filtering on GPUs, last part: y tile = f(A' M A (+ bias)). The products are M[position][output][tile], and
// f is as in product/epilogue.h. There is one work-item for each tile of each output. The first part is
// conv2d_winograd_tiles.cl.
#include "product/target.h"
#include "conv/winograd_tile.h"

// sizes = (tiles, stride, tiles of a column, of a row, outputs, out_h, out_w, unused). With VEC_C = 4, TILE is 4 and
// out_w is a multiple of 4.
__kernel void winograd_output(__global const float* restrict m, const ulong m_offset, __global const float* restrict bias,
                              const ulong bias_offset, __global float* restrict y, const ulong y_offset,
                              EPILOGUE_PARAMETERS, const uint count, const long8 sizes, const int flags) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint output = id / (uint)sizes.s1, tile = id - output * (uint)sizes.s1;
  if (tile >= (uint)sizes.s0) return;
  const uint row = tile / (uint)sizes.s3, image = row / (uint)sizes.s2;
  const int out_h = (int)sizes.s5, out_w = (int)sizes.s6;
  const int h = (int)(row - image * (uint)sizes.s2) * TILE, w = (int)(tile - row * (uint)sizes.s3) * TILE;
  m += m_offset + id;
  float d[SIDE][SIDE];
  UNROLL
  for (int i = 0; i < POSITIONS; ++i) d[i / SIDE][i % SIDE] = m[i * (long)count];
  TRANSFORM(d, line_output, SIDE, TILE)
  const long plane = (long)out_h * out_w, to = image * (sizes.s4 * plane) + (long)h * out_w + w;
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
