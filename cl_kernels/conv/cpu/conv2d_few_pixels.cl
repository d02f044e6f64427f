// Convolution on CPUs for outputs of a few pixels, in fp32. x is of SOURCE, the bias and y are of RESULT. Usually the
// pixels are the columns of the product. With few pixels, most lanes would then compute nothing. Here the output
// channels are the columns:
//
//   y[n][o][p] = f(sum over k of patch(n, p)[k] * w[o][k] (+ bias[o]))        k = (channel, r, s)
//
// w is in the column panels [ceil(O / NR)][k][NR] of gemm_pack. A work-item is a work-group of its own. It copies the
// patches of all pixels into its slice of `scratch`, and then takes vectors of output channels one after another, or a
// panel at once if there are registers for its sums. TILE_ROWS pixels share each load of w. f is as in
// product/epilogue.h, without operands. There is one group.
#include "product/cpu/skinny_tile.h"
#include "conv/parameters.h"

// The type of x. Patches are floats, so STORED is float.
#ifndef SOURCE
#define SOURCE float
#endif

#define ROWS TILE_ROWS

// Copies the elements of x that a pixel of y reads in one tap of the filters, with zeros for elements outside of the
// image.
INLINE void copy_tap(__global float* to, __global const SOURCE* x, const ConvSizes* sizes, const ConvWindow* window,
                     int row, int column) {
  const int height = (int)sizes->height, width = (int)sizes->width, taps = window->taps_h * window->taps_w;
  const int channels = (int)sizes->channels;
  const bool inside = row >= 0 && row < height && column >= 0 && column < width;
  __global const SOURCE* from = x + (inside ? (long)row * width + column : 0);
  NO_UNROLL
  for (int channel = 0; channel < channels; ++channel)
    to[(long)channel * taps] = inside ? LOAD(SOURCE, from, (long)channel * height * width) : 0.0f;
}

// Copies the elements of x that a pixel of y reads. A row of many taps is copied in vectors. Otherwise the loop over
// channels is the inner one, because it is the longer one.
INLINE void copy_patch(__global float* to, __global const SOURCE* x, const ConvSizes* sizes, const ConvWindow* window,
                       int pixel) {
  const int height = (int)sizes->height, width = (int)sizes->width, out_w = (int)sizes->out_w, taps_w = window->taps_w;
  const int top = pixel / out_w * window->stride_h - window->pad_h;
  const int left = pixel % out_w * window->stride_w - window->pad_w;
  const bool whole = window->dilation_w == 1 && left >= 0 && left + taps_w <= width;
  NO_UNROLL
  for (int r = 0; r < window->taps_h; ++r) {
    const int row = top + r * window->dilation_h;
    __global float* line = to + r * taps_w;
    int s = 0;
    if (whole && row >= 0 && row < height) {
      NO_UNROLL
      for (; s + VW <= taps_w; s += VW) NO_UNROLL
      for (long channel = 0; channel < sizes->channels; ++channel)
        UNALIGNED(line + channel * window->taps_h * taps_w + s) =
            LOAD_MANY(SOURCE, x + (channel * height + row) * width + left + s);
    }
    NO_UNROLL
    for (; s < taps_w; ++s) copy_tap(line + s, x, sizes, window, row, left + s * window->dilation_w);
  }
}

CPU_KERNEL void conv2d_few_pixels(__global const SOURCE* restrict x, const ulong x_offset,
                                  __global const float* restrict packed, const ulong packed_offset,
                                  __global RESULT* restrict y, const ulong y_offset,
                                  __global const RESULT* restrict bias, const ulong bias_offset,
                                  __global float* restrict scratch, const ulong scratch_offset,
                                  EPILOGUE_PARAMETERS, const ConvSizes sizes, const ConvWindow window, const int k,
                                  const long slice, const int flags) {
  x += x_offset;
  packed += packed_offset;
  y += y_offset;
  bias += bias_offset;
  const int pixels = (int)(sizes.out_h * sizes.out_w), rows = (int)sizes.images * pixels;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* patches = scratch + scratch_offset + item * slice;
  NO_UNROLL
  for (int row = 0; row < rows; ++row)
    copy_patch(patches + (long)row * k, x + row / pixels * sizes.channels * sizes.height * sizes.width, &sizes, &window,
               row % pixels);
  const long units = (sizes.outputs + VW - 1) / VW;
  const Finish finish = FINISH_OF(0);
  const long end = units * (item + 1) / items;
  const int most = rows == 1 ? NV : SKINNY_VECTORS;
  int vectors;
  NO_UNROLL
  for (long unit = units * item / items; unit < end; unit += vectors) {
    __global const float* panel = packed + unit / NV * k * NR + unit % NV * VW;
    vectors = unit % NV == 0 && unit + NV <= end ? most : 1;
    NO_UNROLL
    for (int first = 0; first < rows; first += ROWS) {
      __global const float* from[ROWS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) from[i] = patches + (long)min(first + i, rows - 1) * k;
      floatv tile[ROWS * NV];
      if (vectors == NV)
        skinny_multiply_panel(tile, from, rows - first, 1, panel, k);
      else
        skinny_multiply(tile, from, rows - first, 1, panel, k);
      NO_UNROLL
      for (int at = 0; at < min(rows - first, ROWS) * vectors; ++at) {
        const int row = first + at / vectors;
        const long output = (unit + at % vectors) * VW;
        const int lanes = (int)min((long)VW, sizes.outputs - output);
        floatv sum = tile[at];
        if (flags & BIAS_PER_ROW) sum += load_some_results(bias + output, lanes, 1);
        __global RESULT* to = y + (row / pixels * sizes.outputs + output) * pixels + row % pixels;
        sum = finish_vector(sum, sum, sum, &finish, flags);
        if (pixels == 1 && lanes == VW) {
          STORE_MANY(RESULT, to, sum);
          continue;
        }
        float values[VW];
        vstorev(sum, 0, values);
        NO_UNROLL
        for (int lane = 0; lane < lanes; ++lane) STORE(RESULT, to, (long)lane * pixels, values[lane]);
      }
    }
  }
}
