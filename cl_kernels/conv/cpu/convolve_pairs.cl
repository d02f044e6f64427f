// Convolutions of whole numbers. The rows of A are filters, packed as pairs (product/pairs/pairs.h) in the order
// channel, row, column of the window. B is the matrix of windows: column j is pixel j % pixels of image j / pixels. x
// comes from conv/cpu/pair_images.cl.
//
// A unit of work is some panels, of 16 pixels each, with a block of `block` filters. It packs the windows of the panels
// in its own slice of `scratch`, which stays in the L2 cache.
#include "conv/parameters.h"
#include "product/pairs/result.h"

#define TABLE 64  // A larger window computes the places of its other taps again and again.

typedef ushort8 unaligned_8 __attribute__((aligned(2)));
typedef ushort4 unaligned_4 __attribute__((aligned(2)));
typedef uint unaligned_2 __attribute__((aligned(2)));
#define AT(type, place) (*(__global const type*)(from + places[place]))

// The elements at from[places[i]] on, for the 16 pixels of a panel: `run` neighbours for each place.
INLINE ushort16 window_of(__global const ushort* from, const int* places, int run) {
  if (run == 16) return LOAD_16(ushort, from + places[0]);
  if (run == 8) return (ushort16)(AT(unaligned_8, 0), AT(unaligned_8, 8));
  if (run == 4) return (ushort16)(AT(unaligned_4, 0), AT(unaligned_4, 4), AT(unaligned_4, 8), AT(unaligned_4, 12));
  if (run == 2)
    return as_ushort16((uint8)(AT(unaligned_2, 0), AT(unaligned_2, 2), AT(unaligned_2, 4), AT(unaligned_2, 6),
                               AT(unaligned_2, 8), AT(unaligned_2, 10), AT(unaligned_2, 12), AT(unaligned_2, 14)));
  ushort some[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) some[lane] = from[places[lane]];
  return vload16(0, some);
}

// Where the pixels of a tap begin within the phases of a channel.
INLINE int place_of_tap(int tap, const PairConvolutionParameters* p) {
  const int h = tap / p->taps_w * p->dilation_h, w = tap % p->taps_w * p->dilation_w;
  return (h % p->stride_h * p->stride_w + w % p->stride_w) * p->phase + h / p->stride_h * p->phase_w + w / p->stride_w;
}

// Packs the windows of 16 pixels. `tap_places` has the places of the first TABLE taps.
INLINE void pack_windows(__global int* panel, __global const ushort* x, const int* places, const int* tap_places,
                         const PairConvolutionParameters* p) {
  const int taps = p->taps_h * p->taps_w;
  const long channel_size = (long)p->stride_h * p->stride_w * p->phase;
  uint16 first = 0;
  bool is_second = false;
  NO_UNROLL
  for (int channel = 0; channel < p->channels; ++channel, x += channel_size) {
    NO_UNROLL
    for (int tap = 0; tap < taps; ++tap) {
      const int place = tap < TABLE ? tap_places[tap] : place_of_tap(tap, p);
      const uint16 window = RESIZED(uint16, window_of(x + place, places, p->run));
      if (is_second) {
        STORE_16(int, as_int16(first | window << 16), panel);
        panel += 16;
      }
      first = window;
      is_second = !is_second;
    }
  }
  if (is_second) STORE_16(int, as_int16(first), panel);
}

// Packs the windows of the 16 pixels of a panel. Column `first` of B is its first one.
INLINE void pack_panel(__global int* panel, __global const ushort* x, int first, const int* tap_places,
                       const PairConvolutionParameters* p) {
  const int image = first / p->pixels, image_size = p->channels * p->stride_h * p->stride_w * p->phase;
  int places[16];
  NO_UNROLL
  for (int lane = 0; lane < 16; ++lane) {
    const int column = min(first + lane, p->images * p->pixels - p->run), pixel = column % p->pixels;
    places[lane] = (column / p->pixels - image) * image_size + pixel / p->width * p->phase_w + pixel % p->width;
  }
  pack_windows(panel, x + (long)image * image_size, places, tap_places, p);
}

CPU_KERNEL void convolve_pairs(__global const int* restrict a, const ulong a_offset, __global const ushort* restrict x,
                               const ulong x_offset, __global int* restrict scratch, const ulong scratch_offset,
                               SCALED_PARAMETERS, const PairConvolutionParameters p, const ScaledParameters by,
                               EPILOGUE_PARAMETERS) {
  const int depth = p.channels * p.taps_h * p.taps_w, pairs = (depth + 1) / 2;
  const int columns = p.images * p.pixels, tile = 16 * p.panels;
  const int tiles = (columns + tile - 1) / tile, blocks = (p.filters + p.block - 1) / p.block;
  const long units = (long)tiles * blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  __global int* panel = scratch + scratch_offset + item * pairs * tile;
  int tap_places[TABLE];
  NO_UNROLL
  for (int tap = 0; tap < min(TABLE, p.taps_h * p.taps_w); ++tap) tap_places[tap] = place_of_tap(tap, &p);
  const Finish finish = FINISH_OF(0);
  const Scaled to = SCALED_OF(&by, &finish);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int first = (int)(unit / blocks) * tile, block = (int)(unit % blocks);
    const int panels = (min(tile, columns - first) + 15) / 16;
    NO_UNROLL
    for (int i = 0; i < panels; ++i) pack_panel(panel + i * pairs * 16, x + x_offset, first + i * 16, tap_places, &p);
    NO_UNROLL
    for (int row = block * p.block; row < min(p.filters, (block + 1) * p.block); row += TILE_ROWS) {
      const int rows = min(TILE_ROWS, min(p.filters, (block + 1) * p.block) - row);
      NO_UNROLL
      for (int i = 0; i < panels; i += TILE_PANELS) {
        pairv sums[TILE_ROWS][2];
        multiply_tile(sums, a + a_offset + (long)row * pairs, pairs, rows, panel + (long)i * pairs * 16, panels - i,
                      pairs);
        store_scaled(sums, row, rows, first + 16 * i, min(16 * TILE_PANELS, columns - first - 16 * i), &to);
      }
    }
  }
}
