// Depthwise convolution of channels in blocks (conv/blocks.h) for CPUs, fp32.
//
//   x (N, blocks, H, W, VW)   w (blocks, R, TAPS_W, VW)   y (N, blocks, OH, OW, VW)
//
// A work-item is a work-group of its own and computes tiles of T columns of one block. Parameters are the same as in
// conv2d_blocks.cl. The host defines TAPS_W and DILATION_W too, so that neighbouring taps share their loads.
#include "conv/blocks.h"

#define SEEN ((T - 1) * STRIDE + (TAPS_W - 1) * DILATION_W + 1)

CPU_KERNEL void conv2d_blocks_depthwise(__global const float* restrict x, const ulong x_offset,
                                        __global const float* restrict w, const ulong w_offset,
                                        __global const float* restrict bias, const ulong bias_offset,
                                        __global float* restrict y, const ulong y_offset,
                                        __global float* restrict scratch, const ulong scratch_offset,
                                        EPILOGUE_PARAMETERS, const BlocksParameters sizes, const ConvWindow window,
                                        const int tiles_of_item, const long slice, const int flags) {
  const int height = (int)sizes.height, width = (int)sizes.width, blocks = (int)sizes.blocks;
  const int out_h = (int)sizes.out_h, out_w = (int)sizes.out_w, taps_h = window.taps_h;
  const int block = (int)get_global_id(0), image = (int)get_global_id(2);
  const int tiles = (out_w + T - 1) / T * out_h;
  const int first = (int)get_global_id(1) * tiles_of_item, last = min(first + tiles_of_item, tiles);
  const Finish finish = FINISH_OF(image);
  x += x_offset + ((long)image * blocks + block) * height * width * VW;
  w += w_offset + (long)block * taps_h * TAPS_W * VW;
  y += y_offset + ((long)image * blocks + block) * out_h * out_w * VW;
  scratch += scratch_offset +
             ((image * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0)) * slice;
  const floatv shift = flags & BIAS_PER_ROW ? UNALIGNED_CONST(bias + bias_offset + block * VW) : (floatv)(0.0f);
  NO_UNROLL
  for (int tile = first; tile < last; ++tile) {
    const BlockTile at = block_tile(tile, out_w);
    floatv acc[T];
#pragma unroll
    for (int t = 0; t < T; ++t) acc[t] = (floatv)(0.0f);
    NO_UNROLL
    for (int r = 0; r < taps_h; ++r) {
      const int h = at.row * window.stride_h - window.pad_h + r * window.dilation_h;
      if (h < 0 || h >= height) continue;
      __global const float* from =
          columns_of_line(x + (long)h * width * VW, at.column * STRIDE - window.pad_w, SEEN, width, VW, scratch);
      __global const float* weight = w + r * TAPS_W * VW;
#pragma unroll
      for (int s = 0; s < TAPS_W; ++s) {
        const floatv tap = UNALIGNED_CONST(weight + s * VW);
#pragma unroll
        for (int t = 0; t < T; ++t)
          acc[t] = FMA(UNALIGNED_CONST(from + (t * STRIDE + s * DILATION_W) * VW), tap, acc[t]);
      }
    }
    floatv sums[T];
#pragma unroll
    for (int t = 0; t < T; ++t) sums[t] = acc[t];
    store_pixels(y, sums, at.count, shift, block, (long)at.row * out_w + at.column, &finish, flags);
  }
}
