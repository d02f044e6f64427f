// Depthwise convolution on GPUs, forward and backward data: every output channel reads one input channel, or a few.
//
//   y[n][k][i][j] = f(bias[k] + sum over c, r, s of x[n][plane(k) + c][i STRIDE_H + r DILATION_H - pad_h][…] * w[plane][r][s])
//
// A work-item computes ROWS outputs below each other. So it reads a row of x once, even if several outputs need the
// row. Neighbouring items compute neighbouring columns.
//
// Forward: c runs over 1 channel, and `outs` outputs share this channel. Backward data: the kernel reads dy, with zeros
// inserted for the stride, and takes the taps in reverse order (FLIPPED). c runs over the `ins` outputs of a channel.
#include "conv/gpu/depthwise.h"
#include "product/target.h"

#ifndef FLIPPED
#define FLIPPED 0
#endif

__kernel void conv2d_depthwise(__global const float* restrict x, const ulong x_offset, __global const float* restrict w,
                               const ulong w_offset, __global const float* restrict bias, const ulong bias_offset,
                               __global float* restrict y, const ulong y_offset, EPILOGUE_PARAMETERS, const uint count,
                               const DepthwiseParameters p, const int flags) {
  const uint id = (uint)get_global_id(0);
  if (id >= count) return;
  const uint outputs = (uint)p.outputs, out_h = (uint)p.out_h, out_w = (uint)p.out_w;
  const uint ins = (uint)p.ins, outs = (uint)p.outs;
  const uint bands = (out_h + ROWS - 1) / ROWS;
  const uint strip = id / out_w, j = id - strip * out_w;
  const uint plane = strip / bands, i = (strip - plane * bands) * ROWS;
  const uint image = plane / outputs, k = plane - image * outputs;
  const Piece piece = {(int)i * STRIDE_H - p.pad_h, (int)j * STRIDE_W - p.pad_w, p.height, p.width};

  const long size = (long)p.height * p.width;
  x += x_offset + ((long)image * (outputs / outs) + k / outs) * ins * size;
  w += w_offset + (long)k * ins * (TAPS_H * TAPS_W);
  float sums[ROWS];
  UNROLL
  for (int o = 0; o < ROWS; ++o) sums[o] = 0.0f;
  for (uint c = 0; c < ins; ++c, x += size, w += TAPS_H * TAPS_W) {
    float taps[TAPS_H][TAPS_W];
    UNROLL
    for (int r = 0; r < TAPS_H; ++r)
      UNROLL
      for (int s = 0; s < TAPS_W; ++s)
        taps[r][s] = w[FLIPPED ? (TAPS_H - 1 - r) * TAPS_W + TAPS_W - 1 - s : r * TAPS_W + s];
    UNROLL
    for (int t = 0; t < SEEN; ++t) {
      float values[TAPS_W];
      piece_row(x, &piece, t, values);
      UNROLL
      for (int o = 0; o < ROWS; ++o) {
        const int r = (t - o * STRIDE_H) / DILATION_H;
        if (t < o * STRIDE_H || r >= TAPS_H || r * DILATION_H != t - o * STRIDE_H) continue;
        UNROLL
        for (int s = 0; s < TAPS_W; ++s) sums[o] = FMA(taps[r][s], values[s], sums[o]);
      }
    }
  }
  const Target target = {y + y_offset, bias + bias_offset, (long)out_h * out_w, 1, flags};
  const Finish finish = FINISH_OF(0);
  UNROLL
  for (int o = 0; o < ROWS; ++o)
    if (i + o < out_h)
      store_sums(sums[o], k, (long)image * outputs * out_h * out_w + (i + o) * out_w + j, &target, &finish);
}
