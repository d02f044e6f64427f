// Depthwise convolution of channels in blocks (conv/cpu/blocks/blocks.h) for CPUs, in fp32.
//
//   x (N, blocks, H, W, VW)   w (blocks, R, TAPS_W, VW)   y (N, blocks, OH, OW, VW)
//
// A work-item is a work-group of its own and computes tiles of T columns of one block. Parameters are the same as in
// conv2d_blocks.cl.
#include "conv/cpu/blocks/blocks.h"
#include "conv/cpu/blocks/sums.h"

CPU_KERNEL void conv2d_blocks_depthwise(__global const STORED* restrict x, const ulong x_offset,
                                        __global const float* restrict w, const ulong w_offset,
                                        __global const float* restrict bias, const ulong bias_offset,
                                        __global RESULT* restrict y, const ulong y_offset, EPILOGUE_PARAMETERS,
                                        const BlocksParameters sizes, const ConvWindow window, const int tiles_of_item,
                                        const int flags) {
  const int height = (int)sizes.height, width = (int)sizes.width, blocks = (int)sizes.blocks;
  const int out_h = (int)sizes.out_h, out_w = (int)sizes.out_w;
  const int block = (int)get_global_id(0), image = (int)get_global_id(2);
  const int tiles = (out_w + T - 1) / T * out_h;
  const int first = (int)get_global_id(1) * tiles_of_item, last = min(first + tiles_of_item, tiles);
  const Finish finish = FINISH_OF(image);
  x += x_offset + ((long)image * blocks + block) * height * width * VW;
  w += w_offset + (long)block * window.taps_h * TAPS_W * VW;
  y += y_offset + ((long)image * blocks + block) * out_h * out_w * VW;
  const floatv shift = flags & BIAS_PER_ROW ? UNALIGNED_CONST(bias + bias_offset + block * VW) : (floatv)(0.0f);
  BlockTile at = block_tile(first, out_w);
  NO_UNROLL
  for (int tile = first; tile < last; ++tile, next_tile(&at, out_w)) {
    floatv sums[T];
    depthwise_sums(sums, x, w, at.row, at.column, &window, height, width);
    store_pixels(y, sums, at.count, shift, block, (long)at.row * out_w + at.column, &finish, flags);
  }
}
