// Convolutions of whole numbers. The rows of A are filters, packed as pairs (product/pairs/pairs.h) in the order
// channel, row, column of the window. B is the matrix of windows: column j is pixel j % pixels of image j / pixels. x
// comes from conv/cpu/pair_images.cl.
//
// A unit of work is a panel of 16 pixels with a block of `block` filters. It packs the windows of the panel in its own
// slice of `scratch`, which stays in the L2 cache.
#include "conv/parameters.h"
#include "product/pairs/result.h"

// The elements at from[places[i]] on, for the 16 pixels of a panel: `run` neighbours for each place.
INLINE ushort16 window_of(__global const ushort* from, const int* places, int run) {
  if (run == 16) return vload16(0, from + places[0]);
  if (run == 8) return (ushort16)(vload8(0, from + places[0]), vload8(0, from + places[8]));
  if (run == 4)
    return (ushort16)(vload4(0, from + places[0]), vload4(0, from + places[4]), vload4(0, from + places[8]),
                      vload4(0, from + places[12]));
  ushort some[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) some[lane] = from[places[lane]];
  return vload16(0, some);
}

// Packs the windows of 16 pixels.
INLINE void pack_windows(__global int* panel, __global const ushort* x, const int* places,
                         const PairConvolutionParameters* p) {
  const int phases = p->stride_h * p->stride_w;
  uint16 first = 0;
  bool is_second = false;
  NO_UNROLL
  for (int channel = 0; channel < p->channels; ++channel) {
    NO_UNROLL
    for (int tap = 0; tap < p->taps_h * p->taps_w; ++tap) {
      const int h = tap / p->taps_w * p->dilation_h, w = tap % p->taps_w * p->dilation_w;
      const long phase = (long)channel * phases + h % p->stride_h * p->stride_w + w % p->stride_w;
      const uint16 window = convert_uint16(
          window_of(x + phase * p->phase + h / p->stride_h * p->phase_w + w / p->stride_w, places, p->run));
      if (is_second) {
        vstore16(as_int16(first | window << 16), 0, panel);
        panel += 16;
      }
      first = window;
      is_second = !is_second;
    }
  }
  if (is_second) vstore16(as_int16(first), 0, panel);
}

CPU_KERNEL void convolve_pairs(__global const int* restrict a, const ulong a_offset, __global const ushort* restrict x,
                               const ulong x_offset, __global int* restrict scratch, const ulong scratch_offset,
                               SCALED_PARAMETERS, const PairConvolutionParameters p, const ScaledParameters by,
                               EPILOGUE_PARAMETERS) {
  const int depth = p.channels * p.taps_h * p.taps_w, pairs = (depth + 1) / 2;
  const int columns = p.images * p.pixels, panels = (columns + 15) / 16, blocks = (p.filters + p.block - 1) / p.block;
  const int image_size = p.channels * p.stride_h * p.stride_w * p.phase;
  const long units = (long)panels * blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  __global int* panel = scratch + scratch_offset + item * pairs * 16;
  const Finish finish = FINISH_OF(0);
  const Scaled to = SCALED_OF(&by, &finish);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int first = (int)(unit / blocks) * 16, block = (int)(unit % blocks);
    const int image = first / p.pixels;
    int places[16];
    NO_UNROLL
    for (int lane = 0; lane < 16; ++lane) {
      const int column = min(first + lane, columns - p.run), pixel = column % p.pixels;
      places[lane] = (column / p.pixels - image) * image_size + pixel / p.width * p.phase_w + pixel % p.width;
    }
    pack_windows(panel, x + x_offset + (long)image * image_size, places, &p);
    NO_UNROLL
    for (int row = block * p.block; row < min(p.filters, (block + 1) * p.block); row += TILE_ROWS) {
      int8 sums[TILE_ROWS][2];
      const int rows = min(TILE_ROWS, min(p.filters, (block + 1) * p.block) - row);
      multiply_tile(sums, a + a_offset + (long)row * pairs, pairs, rows, (__global const int8*)panel, pairs);
      store_scaled(sums, row, rows, first, min(16, columns - first), &to);
    }
  }
}
