// Convolution with a 3 x 3 kernel, stride 1, by Winograd's minimal filtering F(4 x 4, 3 x 3), for CPUs, in fp32. x and
// the weight are of STORED, y and the bias are of RESULT:
//
//   y tile (4 x 4) = A' [sum over c of (G g G') . (B' d B)] A        d: a 6 x 6 piece of x, g: a kernel, .: by elements
//
// This takes 36 products a tile. The direct sum takes 144. The matrices for the points 0, a, -a, b, -b and infinity,
// with C = a^2, D = b^2, E = C + D, F = 1 / (2 C (C - D)) and H = 1 / (2 D (D - C)), are:
//
//        | CD   0  -E   0   1   0 |        | 1/CD   0    0 |
//        |  0 -aD  -D   a   1   0 |        |   F   aF   CF |        | 1   1   1   1   1   0 |
//   B' = |  0  aD  -D  -a   1   0 |    G = |   F  -aF   CF |   A' = | 0   a  -a   b  -b   0 |
//        |  0 -bC  -C   b   1   0 |        |   H   bH   DH |        | 0   C   C   D   D   0 |
//        |  0  bC  -C  -b   1   0 |        |   H  -bH   DH |        | 0  aC -aC  bD -bD   1 |
//        |  0  CD   0  -E   0   1 |        |   0    0    1 |
//
// The points are in conv/winograd.h.
// (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.)
//
// winograd_weights   U[ceil(outputs / MR)][36][channels][MR] = G g G'. There is a gap after each position. So the
//                    distance between positions is no power of two. Kernel (k, c) begins at
//                    weight[k * output_step + c * channel_step]. It is flipped for backward data, where outputs and
//                    channels change places.
// winograd_multiply  A work-item is a work-group of its own and takes units one after another. A unit is NR tiles,
//                    counted through all images, and one of `blocks` parts of the outputs. In its slice of `scratch`
//                    the item keeps V[36][channels][NR] = B' d B. Then it takes PANELS times MR outputs at a time. For
//                    these it computes 36 products of the register tile each, M[36][PANELS * MR][NR], and their A' M A.
//                    With many channels V is larger than the L2 cache. So each part of V that was fetched is used for
//                    PANELS panels.
#include "product/cpu/gemm_store.h"
#include "conv/parameters.h"
#include "conv/sizes.h"
#include "conv/cpu/winograd_lanes.h"
#include "conv/cpu/winograd_pieces.h"

#define POSITION_STEP(channels) ((long)(channels)*MR + VW)  // Distance between positions of U.
#define PANELS WINOGRAD_PANELS
#define M_STEP (PANELS * MR * NR)  // Distance between positions of M.

#define LANE_CHANNELS (VW / MR)  // A vector of U holds MR outputs of this many neighbouring channels.

CPU_KERNEL void winograd_weights(__global const STORED* restrict weight, const ulong weight_offset,
                                 __global float* restrict u, const ulong u_offset, const int outputs,
                                 const int channels, const long output_step, const long channel_step,
                                 const int flipped) {
  weight += weight_offset;
  u += u_offset;
  const int panels = (outputs + MR - 1) / MR, groups = (channels + LANE_CHANNELS - 1) / LANE_CHANNELS;
  const long position_step = POSITION_STEP(channels);
  const long units = (long)panels * groups;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int panel = (int)(unit / groups), channel = (int)(unit % groups) * LANE_CHANNELS;
    const int lanes = min(LANE_CHANNELS, channels - channel) * MR;
    float kernels[9][VW];
    NO_UNROLL
    for (int lane = 0; lane < VW; ++lane) {
      const int k = panel * MR + lane % MR, c = channel + lane / MR;
      const bool valid = k < outputs && c < channels;
      __global const STORED* g = weight + (valid ? k * output_step + c * channel_step : 0);
      NO_UNROLL
      for (int tap = 0; tap < 9; ++tap) kernels[flipped ? 8 - tap : tap][lane] = valid ? LOAD(STORED, g, tap) : 0.0f;
    }
    floatv half_done[18];
    NO_UNROLL
    for (int s = 0; s < 3; ++s) {
      floatv g[6];
#pragma unroll
      for (int r = 0; r < 3; ++r) g[r] = vloadv(0, kernels[r * 3 + s]);
      kernel_transform(g);
#pragma unroll
      for (int i = 0; i < 6; ++i) half_done[i * 3 + s] = g[i];
    }
    __global float* to = u + panel * 36 * position_step + channel * MR;
    NO_UNROLL
    for (int i = 0; i < 6; ++i) {
      floatv g[6];
#pragma unroll
      for (int s = 0; s < 3; ++s) g[s] = half_done[i * 3 + s];
      kernel_transform(g);
      if (lanes == VW) {
#pragma unroll
        for (int j = 0; j < 6; ++j, to += position_step) UNALIGNED(to) = g[j];
      } else {
        NO_UNROLL
        for (int j = 0; j < 6; ++j, to += position_step) {
          float values[VW];
          vstorev(g[j], 0, values);
          NO_UNROLL
          for (int lane = 0; lane < lanes; ++lane) to[lane] = values[lane];
        }
      }
    }
  }
}

// Computes V of one channel from its sorted pieces.
INLINE void transform_channel(__global float* v, long position_step, __global const float* pieces) {
  NO_UNROLL
  for (int vector = 0; vector < NV; ++vector, v += VW, pieces += VW)
    transform_piece(v, position_step, pieces, 6 * PIECE, PIECE, 6);
}

// Computes the tiles of one output from its 36 products. Row i of all tiles goes to strip[i * 4 * NR …], one tile after
// another.
INLINE void make_strip(__global float* strip, __global const float* m) {
  NO_UNROLL
  for (int vector = 0; vector < NV; ++vector, strip += 4 * VW, m += VW) {
    floatv half_done[24];
    NO_UNROLL
    for (int j = 0; j < 6; ++j) {
      floatv p[6];
#pragma unroll
      for (int i = 0; i < 6; ++i) p[i] = ALIGNED_CONST(m + (i * 6 + j) * M_STEP);
      output_transform(p);
#pragma unroll
      for (int i = 0; i < 4; ++i) half_done[i * 6 + j] = p[i];
    }
    NO_UNROLL
    for (int i = 0; i < 4; ++i) {
      floatv p[6];
#pragma unroll
      for (int j = 0; j < 6; ++j) p[j] = half_done[i * 6 + j];
      output_transform(p);
      floatv low, high;  // Columns 0 1 2 3 of one tile, then 0 1 2 3 of the next, …
      floatv even_low, even_high, odd_low, odd_high;
      even_low.even = p[0].lo;
      even_low.odd = p[2].lo;
      even_high.even = p[0].hi;
      even_high.odd = p[2].hi;
      odd_low.even = p[1].lo;
      odd_low.odd = p[3].lo;
      odd_high.even = p[1].hi;
      odd_high.odd = p[3].hi;
      __global float* to = strip + i * 4 * NR;
      low.even = even_low.lo;
      low.odd = odd_low.lo;
      high.even = even_low.hi;
      high.odd = odd_low.hi;
      ALIGNED(to) = low;
      ALIGNED(to + VW) = high;
      low.even = even_high.lo;
      low.odd = odd_high.lo;
      high.even = even_high.hi;
      high.odd = odd_high.hi;
      ALIGNED(to + 2 * VW) = low;
      ALIGNED(to + 3 * VW) = high;
    }
  }
}

// Computes M for the output panels panel … panel + count - 1. A sum over the channels consists of the sums of CHUNK
// channels, which makes the rounding errors of 512 channels half as large.
#define CHUNK 64
INLINE void multiply_panels(__global float* m, __global const float* u, __global const float* v, int channels,
                            int panel, int count) {
  NO_UNROLL
  for (int position = 0; position < 36; ++position) {
    NO_UNROLL
    for (int p = 0; p < count; ++p) {
      __global float* to = m + position * M_STEP + p * MR * NR;
      __global const float* a = u + ((panel + p) * 36 + position) * POSITION_STEP(channels);
      __global const float* b = v + (long)position * channels * NR;
      NO_UNROLL
      for (int first = 0; first < channels; first += CHUNK) {
        floatv acc[MR * NV];
        tile_clear(acc);
        tile_multiply(acc, a + first * MR, MR, b + first * NR, NR, min(CHUNK, channels - first));
        if (first > 0) {
#pragma unroll
          for (int i = 0; i < MR * NV; ++i) acc[i] += ALIGNED_CONST(to + i * VW);
        }
#pragma unroll
        for (int i = 0; i < MR * NV; ++i) ALIGNED(to + i * VW) = acc[i];
      }
    }
  }
}

// Stores the tiles of one output. target->c is its plane in the first image, and images are image_step apart.
INLINE void store_strip(__global const float* strip, const Tiles* tiles, const Target* target, const Finish* finish,
                        long image_step, int out_h, int out_w) {
  Run run;
  NO_UNROLL
  for (int at = 0; at < tiles->count; at += run.count) {
    find_run(&run, tiles, at);
    const int columns = min(4 * run.count, out_w - 4 * run.column);
    const long to = run.image * image_step + 4L * run.row * out_w + 4 * run.column;
    NO_UNROLL
    for (int i = 0; i < min(4, out_h - 4 * run.row); ++i) {
      NO_UNROLL
      for (int j = 0; j < columns; j += VW) {
        const floatv lanes = UNALIGNED_CONST(strip + i * 4 * NR + 4 * run.at + j);
        store_columns(&lanes, 0, target, finish, 0, to + (long)i * out_w + j, min(VW, columns - j), target->bias);
      }
    }
  }
}

CPU_KERNEL void winograd_multiply(__global const float* restrict u, const ulong u_offset,
                                  __global const STORED* restrict x, const ulong x_offset,
                                  __global RESULT* restrict y, const ulong y_offset,
                                  __global const RESULT* restrict bias, const ulong bias_offset,
                                  __global float* restrict scratch, const ulong scratch_offset, EPILOGUE_PARAMETERS,
                                  const WinogradParameters p, const int flags) {
  const int channels = p.channels, outputs = p.outputs, out_h = p.out_h, out_w = p.out_w, blocks = p.blocks;
  const int tiles_h = (out_h + 3) / 4, tiles_w = (out_w + 3) / 4, panels = (outputs + MR - 1) / MR;
  const long all_tiles = p.images * tiles_h * tiles_w;
  const long plane_size = (long)p.height * p.width, out_plane = (long)out_h * out_w;
  const Plane plane = {channels * plane_size, p.height, p.width, p.pad_h, p.pad_w};
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  u += u_offset;
  x += x_offset;
  y += y_offset;
  bias += bias_offset;
  __global float* v = scratch + scratch_offset + item * p.slice;
  __global float* m = v + 36L * channels * NR;
  __global float* pieces = m + 36 * M_STEP;
  __global float* strip = pieces + 36 * PIECE;
  __global float* line = strip + 16 * NR;
  const int line_length = 4 * (tiles_w + VW + 1);
  NO_UNROLL
  for (int i = 0; i < line_length; ++i) line[i] = 0.0f;  // Zeros for the padding. Rows of x overwrite the other
                                                         // elements.
  NO_UNROLL
  for (int i = 0; i < 36 * PIECE; ++i) pieces[i] = 0.0f;
  const Finish finish = FINISH_OF(0);
  const long units = (all_tiles + NR - 1) / NR * blocks;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long first = unit / blocks * NR;
    const Tiles tiles = {first, (int)min((long)NR, all_tiles - first), tiles_h, tiles_w};
    NO_UNROLL
    for (int c = 0; c < channels; ++c) {
      sort_channel(pieces, line, x + c * plane_size, &plane, &tiles);
      transform_channel(v + (long)c * NR, (long)channels * NR, pieces);
    }
    const int block = (int)(unit % blocks), panel_end = panels * (block + 1) / blocks;
    NO_UNROLL
    for (int panel = panels * block / blocks; panel < panel_end; panel += PANELS) {
      const int now = min(PANELS, panel_end - panel);
      multiply_panels(m, u, v, channels, panel, now);
      NO_UNROLL
      for (int k = panel * MR; k < min(outputs, (panel + now) * MR); ++k) {
        make_strip(strip, m + (k - panel * MR) * NR);
        const Target target = {y + k * out_plane, 0, k, 1, flags, bias + k};
        store_strip(strip, &tiles, &target, &finish, outputs * out_plane, out_h, out_w);
      }
    }
  }
}
