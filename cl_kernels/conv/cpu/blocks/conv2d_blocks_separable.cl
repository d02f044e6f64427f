// A depthwise convolution, a function of its elements and a pointwise convolution in one pass over rows. For CPUs and
// fp32, with channels in blocks (conv/cpu/blocks/blocks.h).
//
//   x (N, blocks_in, H, W, VW)   w (blocks_in, R, TAPS_W, VW)
//   y (N, blocks, OH, OW, VW)    pointwise (groups, blocks_in, 1, 1, VW, OB, VW)
//
// A work-item is a work-group of its own. It computes bands of `rows` rows of y, one after the other. The depthwise
// result of a band is in the work-item's scratch, so it stays in a cache. Its tiles have T columns. For the pointwise
// convolution a band is one line, and its tiles are OB blocks times T pixels.
//
// The range of work-items is (parts of the plane, images). The parts differ by at most one band. `slice` is the number
// of floats of an item's scratch, which has the depthwise result of a band.
#include "conv/cpu/blocks/blocks.h"
#include "conv/cpu/blocks/sums.h"

// The function between the two convolutions, which reads no operands.
#ifdef MIDDLE
#define DEFINE_MIDDLE(type) MIDDLE(type, middle_snippet)
DEFINE_MIDDLE(floatv)
#endif
INLINE floatv between_value(const floatv v, const int flags, const float8 s) {
#ifdef MIDDLE
  return middle_snippet(v, v, v, s);
#else
  if (flags & RELU) return v <= (floatv)(0.0f) ? (floatv)(0.0f) : v;  // NaN stays.
  return v;
#endif
}

// Computes the rows of a band from `row` on: g(depthwise + shift). A block has `pixels` pixels. x points to the band's
// image.
INLINE void fill_band(__global float* between, __global const STORED* x, __global const float* w,
                      __global const float* shift, const float8 middle, int flags, const ConvWindow* window,
                      const BlocksParameters* sizes, int row, int pixels) {
  const int height = (int)sizes->height, width = (int)sizes->width, out_w = (int)sizes->out_w;
  const int tiles = pixels / out_w * ((out_w + T - 1) / T);
  NO_UNROLL
  for (int block = 0; block * VW < sizes->channels; ++block, between += pixels * VW) {
    const floatv added = flags & BIAS_PER_ROW ? UNALIGNED_CONST(shift + block * VW) : (floatv)(0.0f);
    BlockTile at = block_tile(0, out_w);
    NO_UNROLL
    for (int tile = 0; tile < tiles; ++tile, next_tile(&at, out_w)) {
      floatv sums[T];
      depthwise_sums(sums, x + (long)block * height * width * VW, w + (long)block * window->taps_h * TAPS_W * VW,
                     row + at.row, at.column, window, height, width);
      __global float* to = between + (at.row * out_w + at.column) * VW;
      NO_UNROLL
      for (int t = 0; t < at.count; ++t) UNALIGNED(to + t * VW) = between_value(sums[t] + added, flags, middle);
    }
  }
}

CPU_KERNEL void conv2d_blocks_separable(__global const STORED* restrict x, const ulong x_offset,
                                        __global const float* restrict w, const ulong w_offset,
                                        __global const float* restrict shift, const ulong shift_offset,
                                        const float8 middle, __global const float* restrict pointwise,
                                        const ulong pointwise_offset, __global const float* restrict bias,
                                        const ulong bias_offset, __global RESULT* restrict y, const ulong y_offset,
                                        __global float* restrict scratch, const ulong scratch_offset,
                                        EPILOGUE_PARAMETERS, const BlocksParameters sizes, const ConvWindow window,
                                        const int rows, const long slice, const int middle_flags, const int flags) {
  const int channels = (int)sizes.channels, in_blocks = (channels + VW - 1) / VW;
  const int blocks = (int)sizes.blocks, out_h = (int)sizes.out_h, out_w = (int)sizes.out_w;
  const int image = (int)get_global_id(1);
  const Finish finish = FINISH_OF(image);
  x += x_offset + image * in_blocks * sizes.height * sizes.width * VW;
  w += w_offset;
  shift += shift_offset;
  pointwise += pointwise_offset;
  y += y_offset + (long)image * blocks * out_h * out_w * VW;
  __global float* between = scratch + scratch_offset + (image * get_global_size(0) + get_global_id(0)) * slice;
  const int bands = (out_h + rows - 1) / rows, item = (int)get_global_id(0), items = (int)get_global_size(0);
  const int first = (int)((long)bands * item / items), last = (int)((long)bands * (item + 1) / items);
  NO_UNROLL
  for (int band = first; band < last; ++band) {
    const int row = band * rows, pixels = min(rows, out_h - row) * out_w;
    fill_band(between, x, w, shift, middle, middle_flags, &window, &sizes, row, pixels);
    NO_UNROLL
    for (int group = 0; group * OB < blocks; ++group) {
      BlockTile at = block_tile(0, pixels);
      NO_UNROLL
      for (int tile = 0; tile < (pixels + T - 1) / T; ++tile, next_tile(&at, pixels)) {
        floatv acc[OB * T];
#pragma unroll
        for (int i = 0; i < OB * T; ++i) acc[i] = (floatv)(0.0f);
        NO_UNROLL
        for (int ib = 0; ib < in_blocks; ++ib)
          add_tap(acc, between + ((long)ib * pixels + at.column) * VW, VW,
                  pointwise + ((long)group * in_blocks + ib) * VW * OB * VW, min(VW, channels - ib * VW));
        floatv sums[OB * T];
#pragma unroll
        for (int i = 0; i < OB * T; ++i) sums[i] = acc[i];
        store_blocks(y, sums, group * OB, blocks, at.count, bias + bias_offset, (long)out_h * out_w,
                     (long)row * out_w + at.column, &finish, flags);
      }
    }
  }
}
