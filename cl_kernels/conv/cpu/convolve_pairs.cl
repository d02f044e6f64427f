// Convolutions of whole numbers. The rows of A are filters, packed as words (product/pairs/pairs.h) in the order row
// and column of the window, group of channels. B is the matrix of windows: column j is pixel j % pixels of image j /
// pixels. x comes from conv/cpu/pair_images.cl.
//
// A unit of work is some panels, of 16 pixels each, with a block of `block` filters. It packs the windows of the panels
// in its own slice of `scratch`, which stays in the L2 cache.
#include "conv/parameters.h"
#include "product/pairs/result.h"

typedef int8 unaligned_8 __attribute__((aligned(4)));
typedef int4 unaligned_4 __attribute__((aligned(4)));
typedef int2 unaligned_2 __attribute__((aligned(4)));
#define AT(type, place) (*(__global const type*)(from + places[place]))

// The words at from[places[i]] on, for the 16 pixels of a panel: `run` neighbours for each place.
INLINE int16 window_of(__global const int* from, const int* places, int run) {
  if (run == 16) return LOAD_16(int, from + places[0]);
  if (run == 8) return (int16)(AT(unaligned_8, 0), AT(unaligned_8, 8));
  if (run == 4) return (int16)(AT(unaligned_4, 0), AT(unaligned_4, 4), AT(unaligned_4, 8), AT(unaligned_4, 12));
  if (run == 2)
    return (int16)(AT(unaligned_2, 0), AT(unaligned_2, 2), AT(unaligned_2, 4), AT(unaligned_2, 6), AT(unaligned_2, 8),
                   AT(unaligned_2, 10), AT(unaligned_2, 12), AT(unaligned_2, 14));
  int some[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) some[lane] = from[places[lane]];
  return vload16(0, some);
}

INLINE int groups_of(const PairConvolutionParameters* p) { return (p->channels + WORD_NUMBERS - 1) / WORD_NUMBERS; }

// Where the pixels of a tap begin within the phases of a group of channels.
INLINE int place_of_tap(int tap, const PairConvolutionParameters* p) {
  const int h = tap / p->taps_w * p->dilation_h, w = tap % p->taps_w * p->dilation_w;
  return (h % p->stride_h * p->stride_w + w % p->stride_w) * p->phase + h / p->stride_h * p->phase_w + w / p->stride_w;
}

// Packs the windows of the 16 pixels of a panel. Column `first` of B is its first one. The words that make the depth a
// multiple of 16 keep any numbers, because those of the filters are 0.
INLINE void pack_panel(__global int* panel, __global const int* x, int first, const PairConvolutionParameters* p) {
  const int image = first / p->pixels, groups = groups_of(p), group_size = p->stride_h * p->stride_w * p->phase;
  int places[16];
  NO_UNROLL
  for (int lane = 0; lane < 16; ++lane) {
    const int column = min(first + lane, p->images * p->pixels - p->run), pixel = column % p->pixels;
    places[lane] =
        (column / p->pixels - image) * groups * group_size + pixel / p->width * p->phase_w + pixel % p->width;
  }
  x += (long)image * groups * group_size;
  NO_UNROLL
  for (int tap = 0; tap < p->taps_h * p->taps_w; ++tap) {
    __global const int* from = x + place_of_tap(tap, p);
    NO_UNROLL
    for (int group = 0; group < groups; ++group, from += group_size, panel += 16)
      STORE_16(int, window_of(from, places, p->run), panel);
  }
}

#ifdef TDPBSSD
// Whether a filter has a zero point. Only then the sums of windows matter.
INLINE bool has_zeros(__global const int* a, int words, const PairConvolutionParameters* p) {
  int all = 0;
  NO_UNROLL
  for (int filter = 0; filter < p->filters; ++filter) all |= a[filter * (long)ROW_SIZE(words) + words];
  return all != 0;
}

// Stores behind a panel what subtracts the zero points.
INLINE void end_panel(__global int* panel, int words, int count, int zero, bool with_sums,
                      const PairConvolutionParameters* p) {
  int16 sums = 0;
  if (with_sums) {
    NO_UNROLL
    for (int t = 0; t < count; ++t) {
      const int16 word = LOAD_16(int, panel + t * 16);
      sums += (word << 24 >> 24) + (word << 16 >> 24) + (word << 8 >> 24) + (word >> 24);
    }
  }
  store_panel_terms(panel, words, zero, sums, p->channels * p->taps_h * p->taps_w);
}
#else
INLINE bool has_zeros(__global const int* a, int words, const PairConvolutionParameters* p) { return false; }
INLINE void end_panel(__global int* panel, int words, int count, int zero, bool with_sums,
                      const PairConvolutionParameters* p) {}
#endif

CPU_KERNEL void convolve_pairs(__global const int* restrict a, const ulong a_offset, __global const int* restrict x,
                               const ulong x_offset, __global int* restrict scratch, const ulong scratch_offset,
                               SCALED_PARAMETERS, const PairConvolutionParameters p, const ScaledParameters by,
                               EPILOGUE_PARAMETERS) {
  const int groups = groups_of(&p), count = groups * p.taps_h * p.taps_w;
  const int words = LINE_WORDS(count), panel_size = PANEL_LINES(words) * 16;
  const int columns = p.images * p.pixels, tile = 16 * p.panels;
  const int tiles = (columns + tile - 1) / tile, blocks = (p.filters + p.block - 1) / p.block;
  const long units = (long)tiles * blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  a += a_offset;
  x += x_offset;
  __global int* panel = scratch + scratch_offset + item * panel_size * p.panels;
  const int point = x[(long)p.images * groups * p.stride_h * p.stride_w * p.phase];
  const bool with_sums = has_zeros(a, words, &p);
  const Finish finish = FINISH_OF(0);
  const Scaled to = SCALED_OF(&by, &finish);
  int shape = 0;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int first = (int)(unit / blocks) * tile, block = (int)(unit % blocks);
    const int panels = (min(tile, columns - first) + 15) / 16;
    NO_UNROLL
    for (int i = 0; i < panels; ++i) {
      pack_panel(panel + i * panel_size, x, first + i * 16, &p);
      end_panel(panel + i * panel_size, words, count, point, with_sums, &p);
    }
    NO_UNROLL
    for (int row = block * p.block; row < min(p.filters, (block + 1) * p.block); row += TILE_ROWS) {
      const int rows = min(TILE_ROWS, min(p.filters, (block + 1) * p.block) - row);
      NO_UNROLL
      for (int i = 0; i < panels; i += TILE_PANELS) {
        pairv sums[TILE_ROWS][2];
        multiply_tile(sums, a + (long)row * ROW_SIZE(words), rows, panel + (long)i * panel_size, panels - i, words,
                      &shape);
        store_scaled(sums, row, rows, first + 16 * i, min(16 * TILE_PANELS, columns - first - 16 * i), &to);
      }
    }
  }
  end_tiles();
}
