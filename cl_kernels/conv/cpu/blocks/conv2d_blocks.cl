// Convolution of channels in blocks (conv/cpu/blocks/blocks.h) for CPUs, in fp32, one group.
//
//   x (N, ceil(C / XB), H, W, XB)   w (groups, ceil(C / XB), R, S, XB, OB, VW)   y (N, blocks, OH, OW, VW)
//
// A work-item is a work-group of its own and computes tiles. A tile has T columns of OB blocks of y, and all its sums
// are in registers. A step loads OB vectors of w and multiplies them by T numbers of x at fixed distances. So w is read
// in the order of memory, and a vector of w is used T times.
//
// The range of work-items is (groups of OB blocks, pieces of the plane, images). An item takes tiles_of_item tiles.
// `slice` is the number of floats of its scratch.
#include "conv/cpu/blocks/blocks.h"
#include "conv/cpu/blocks/sums.h"

CPU_KERNEL void conv2d_blocks(__global const STORED* restrict x, const ulong x_offset, __global const float* restrict w,
                              const ulong w_offset, __global const float* restrict bias, const ulong bias_offset,
                              __global RESULT* restrict y, const ulong y_offset, __global float* restrict scratch,
                              const ulong scratch_offset, EPILOGUE_PARAMETERS, const BlocksParameters sizes,
                              const ConvWindow window, const int tiles_of_item, const long slice, const int flags) {
  const int channels = (int)sizes.channels, height = (int)sizes.height, width = (int)sizes.width;
  const int blocks = (int)sizes.blocks, out_h = (int)sizes.out_h, out_w = (int)sizes.out_w;
  const int taps_h = window.taps_h, taps_w = window.taps_w, pad_w = window.pad_w, dilation_w = window.dilation_w;
  const int group = (int)get_global_id(0), image = (int)get_global_id(2);
  const int in_blocks = (channels + XB - 1) / XB;
  const int seen = (T - 1) * STRIDE + (taps_w - 1) * dilation_w + 1;
  const int tiles = (out_w + T - 1) / T * out_h;
  const int first = (int)get_global_id(1) * tiles_of_item, last = min(first + tiles_of_item, tiles);
  const Finish finish = FINISH_OF(image);
  x += x_offset + (long)image * in_blocks * height * width * XB;
  w += w_offset + (long)group * in_blocks * taps_h * taps_w * XB * OB * VW;
  y += y_offset + (long)image * blocks * out_h * out_w * VW;
  scratch += scratch_offset +
             ((image * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0)) * slice;
  NO_UNROLL
  for (int tile = first; tile < last; ++tile) {
    const BlockTile at = block_tile(tile, out_w);
    floatv acc[OB * T];
#pragma unroll
    for (int i = 0; i < OB * T; ++i) acc[i] = (floatv)(0.0f);
    NO_UNROLL
    for (int ib = 0; ib < in_blocks; ++ib) {
      const int depth = min(XB, channels - ib * XB);
      NO_UNROLL
      for (int r = 0; r < taps_h; ++r) {
        const int h = at.row * window.stride_h - window.pad_h + r * window.dilation_h;
        if (h < 0 || h >= height) continue;
        __global const float* from = columns_of_line(x + ((long)ib * height + h) * width * XB, at.column * STRIDE - pad_w,
                                                     seen, width, XB, scratch);
        FETCH_COLUMNS(from + (long)height * width * XB, T * STRIDE * XB);
        __global const float* weight = w + ((long)ib * taps_h + r) * taps_w * XB * OB * VW;
        NO_UNROLL
        for (int s = 0; s < taps_w; ++s, from += dilation_w * XB, weight += XB * OB * VW)
          add_tap(acc, from, STRIDE * XB, weight, depth);
      }
    }
    floatv sums[OB * T];
#pragma unroll
    for (int i = 0; i < OB * T; ++i) sums[i] = acc[i];
    store_blocks(y, sums, group * OB, blocks, at.count, bias + bias_offset, (long)out_h * out_w,
                 (long)at.row * out_w + at.column, &finish, flags);
  }
}
