// Gradient of a depthwise convolution's weight on GPUs:
//
//   dw[k][r][s] = sum over n, i, j of dy[n][k][i][j] * x[n][k / outs][i STRIDE_H + r DILATION_H - pad_h][…]
//
// A work-group takes an output channel and one of `parts` parts of the images. A strip is ROWS outputs below each
// other. Each item of the group takes every ITEMS-th strip of this part. The sums go to [part][k][r][s], and
// gemm_parts.cl adds them up in order, so every run gives the same bits.
#include "conv/gpu/depthwise.h"

#define ITEMS DEPTHWISE_ITEMS
#define LANES 16  // The number of sums that are added one after another at the end.

// Writes the sum of all items' values to *to. Afterwards `shared` may be overwritten.
INLINE void store_sum_of_items(__global float* to, __local float* shared, float value, uint item) {
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  if (item < LANES) {
    for (uint i = item; i < ITEMS; i += LANES) sum += shared[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item < LANES) shared[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    for (uint i = 1; i < LANES; ++i) sum += shared[i];
    *to = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void conv2d_depthwise_weight(
    __global const float* restrict x, const ulong x_offset, __global const float* restrict y, const ulong y_offset,
    __global float* restrict sums, const ulong sums_offset, const DepthwiseParameters p, const uint images,
    const uint parts) {
  __local float shared[ITEMS];
  const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
  const uint outputs = (uint)p.outputs, out_h = (uint)p.out_h, out_w = (uint)p.out_w;
  const uint part = group / outputs, k = group - part * outputs;
  const uint bands = (out_h + ROWS - 1) / ROWS, strips = bands * out_w, all = strips * images;
  const uint each = (all + parts - 1) / parts, end = min(all, (part + 1) * each);
  const uint channels = outputs / (uint)p.outs;
  const long x_plane = (long)p.height * p.width, y_plane = (long)p.out_h * p.out_w;
  x += x_offset + k / (uint)p.outs * x_plane;
  y += y_offset + k * y_plane;

  float acc[TAPS_H][TAPS_W];
  UNROLL
  for (int r = 0; r < TAPS_H; ++r)
    UNROLL
    for (int s = 0; s < TAPS_W; ++s) acc[r][s] = 0.0f;
  for (uint at = part * each + item; at < end; at += ITEMS) {
    const uint image = at / strips, strip = at - image * strips;
    const uint band = strip / out_w, j = strip - band * out_w, i = band * ROWS;
    const Piece piece = {(int)i * STRIDE_H - p.pad_h, (int)j * STRIDE_W - p.pad_w, p.height, p.width};
    __global const float* plane = x + (long)image * channels * x_plane;
    __global const float* from = y + (long)image * outputs * y_plane;
    float dy[ROWS];
    UNROLL
    for (int o = 0; o < ROWS; ++o) {
      const float value = from[min(i + o, out_h - 1) * out_w + j];
      dy[o] = i + o < out_h ? value : 0.0f;
    }
    UNROLL
    for (int t = 0; t < SEEN; ++t) {
      float values[TAPS_W];
      piece_row(plane, &piece, t, values);
      UNROLL
      for (int o = 0; o < ROWS; ++o) {
        const int r = (t - o * STRIDE_H) / DILATION_H;
        if (t < o * STRIDE_H || r >= TAPS_H || r * DILATION_H != t - o * STRIDE_H) continue;
        UNROLL
        for (int s = 0; s < TAPS_W; ++s) acc[r][s] = FMA(dy[o], values[s], acc[r][s]);
      }
    }
  }

  sums += sums_offset + ((long)part * outputs + k) * (TAPS_H * TAPS_W);
  UNROLL
  for (int r = 0; r < TAPS_H; ++r)
    UNROLL
    for (int s = 0; s < TAPS_W; ++s) store_sum_of_items(sums + r * TAPS_W + s, shared, acc[r][s], item);
}
