// Convolution of channels in blocks (conv/cpu/blocks/blocks.h) for CPUs, in fp32, one group.
//
//   x (N, ceil(C / XB), H, W, XB)   w (groups, ceil(C / XB), R, S, XB, OB, VW)   y (N, blocks, OH, OW, VW)
//
// A tile has T columns of OB blocks of y, and all its sums are in registers. A step loads OB vectors of w and
// multiplies them by T numbers of x at fixed distances. So w is read in the order of memory, and a vector of w is used
// T times.
//
// A work-item is a work-group of its own. It takes units of work one after another. A unit is one group of OB blocks of
// y and cut.tiles tiles of a plane: some whole rows, or a part of a row. For all its tiles the item adds cut.in_blocks
// blocks of x, and then the next ones. Meanwhile the sums are in the item's scratch. So the weights of these blocks
// stay in the first cache, the tiles' part of x stays in the second cache, and the processor sees few streams of reads.
//
// If x is not float, or if tiles reach beyond its rows, the item copies these blocks of x to its scratch, as floats and
// with zeros around them.
//
// The range of work-items is any number of them. `slice` is the number of floats of an item's scratch: the sums, and
// the copy.
#include "conv/cpu/blocks/blocks.h"
#include "conv/cpu/blocks/sums.h"

// Where tiles read x. The first element is in column `left` of row `top`. Distances count floats.
typedef struct {
  __global const float* from;
  long plane;  // Between blocks.
  int line, top, left;
} Rows;

// The rows of x that tiles from `begin` to `end` read, of blocks first … last-1. `to` is the scratch for a copy.
INLINE Rows rows_of_tiles(__global const STORED* x, int first, int last, const BlockTile* begin, const BlockTile* end,
                          const BlocksParameters* sizes, const ConvWindow* window, __global float* to) {
  const int height = (int)sizes->height, width = (int)sizes->width, left = begin->column * STRIDE - window->pad_w;
  const int columns = (end->column - begin->column + T - 1) * STRIDE + (window->taps_w - 1) * window->dilation_w + 1;
  const long plane = (long)height * width * XB;
  x += first * plane;
#ifdef STORED_IS_FLOAT
  if (left >= 0 && left + columns <= width) {
    const Rows in_place = {x, plane, width * XB, 0, 0};
    return in_place;
  }
#endif
  const int top = max(begin->row * window->stride_h - window->pad_h, 0);
  const int bottom = end->row * window->stride_h - window->pad_h + (window->taps_h - 1) * window->dilation_h;
  const int below = min(bottom + 1, height);
  const Rows rows = {to, (long)(below - top) * columns * XB, columns * XB, top, left};
  NO_UNROLL
  for (int block = first; block < last; ++block, x += plane) {
    NO_UNROLL
    for (int h = top; h < below; ++h, to += rows.line)
      copy_line(to, x + (long)h * width * XB, left, columns, width, XB);
  }
  return rows;
}

// Adds `blocks` blocks of x, which have `channels` channels, to the sums of a tile. w points to their weights.
INLINE void add_blocks(floatv acc[OB * T], const Rows* rows, __global const float* w, int blocks, int channels,
                       const BlockTile* at, int height, const ConvWindow* window) {
  const long row_weights = (long)window->taps_w * XB * OB * VW;
  const int column = at->column * STRIDE - window->pad_w - rows->left;
  NO_UNROLL
  for (int r = 0; r < window->taps_h; ++r) {
    const int h = at->row * window->stride_h - window->pad_h + r * window->dilation_h;
    if (h < 0 || h >= height) continue;
    __global const float* row = rows->from + (long)(h - rows->top) * rows->line + column * XB;
    __global const float* row_weight = w + r * row_weights;
    NO_UNROLL
    for (int block = 0; block < blocks; ++block, row += rows->plane, row_weight += window->taps_h * row_weights) {
      __global const float *from = row, *weight = row_weight;
      FETCH_COLUMNS(row + rows->plane, T * STRIDE * XB);
      NO_UNROLL
      for (int s = 0; s < window->taps_w; ++s, from += window->dilation_w * XB, weight += XB * OB * VW)
        add_tap(acc, from, STRIDE * XB, weight, min(XB, channels - block * XB));
    }
  }
}

CPU_KERNEL void conv2d_blocks(__global const STORED* restrict x, const ulong x_offset, __global const float* restrict w,
                              const ulong w_offset, __global const float* restrict bias, const ulong bias_offset,
                              __global RESULT* restrict y, const ulong y_offset, __global float* restrict scratch,
                              const ulong scratch_offset, EPILOGUE_PARAMETERS, const BlocksParameters sizes,
                              const ConvWindow window, const BlocksCut cut, const long slice, const int flags) {
  const int channels = (int)sizes.channels, in_blocks = (channels + XB - 1) / XB, blocks = (int)sizes.blocks;
  const int out_h = (int)sizes.out_h, out_w = (int)sizes.out_w, in_row = (out_w + T - 1) / T, tiles = in_row * out_h;
  const int strip = max(in_row, cut.tiles), in_strip = (strip + cut.tiles - 1) / cut.tiles;
  const int groups = (blocks + OB - 1) / OB, pieces = (tiles + strip - 1) / strip * in_strip;
  const long units = (long)cut.images * pieces * groups, item = get_global_id(0), items = get_global_size(0);
  const long block_weights = (long)window.taps_h * window.taps_w * XB * OB * VW;
  scratch += scratch_offset + item * slice;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int group = (int)(unit % groups), piece = (int)(unit / groups % pieces);
    const long image = unit / groups / pieces;
    const int first_tile = piece / in_strip * strip + piece % in_strip * cut.tiles;
    const int last_tile = min(first_tile + cut.tiles, min((piece / in_strip + 1) * strip, tiles));
    const BlockTile begin = block_tile(first_tile, out_w), end = block_tile(last_tile - 1, out_w);
    const Finish finish = FINISH_OF(image);
    __global const float* weight = w + w_offset + (long)group * in_blocks * block_weights;
    NO_UNROLL
    for (int first = 0; first < in_blocks; first += cut.in_blocks, weight += cut.in_blocks * block_weights) {
      const int last = min(first + cut.in_blocks, in_blocks);
      const Rows rows = rows_of_tiles(x + x_offset + image * in_blocks * sizes.height * sizes.width * XB, first, last,
                                      &begin, &end, &sizes, &window, scratch + cut.tiles * OB * T * VW);
      __global float* kept = scratch;
      NO_UNROLL
      for (int tile = first_tile; tile < last_tile; ++tile, kept += OB * T * VW) {
        const BlockTile at = block_tile(tile, out_w);
        floatv acc[OB * T];
#pragma unroll
        for (int i = 0; i < OB * T; ++i) acc[i] = first == 0 ? (floatv)(0.0f) : ALIGNED(kept + i * VW);
        add_blocks(acc, &rows, weight, last - first, channels - first * XB, &at, (int)sizes.height, &window);
        floatv sums[OB * T];
#pragma unroll
        for (int i = 0; i < OB * T; ++i) sums[i] = acc[i];
        if (last == in_blocks)
          store_blocks(y + y_offset + image * blocks * out_h * out_w * VW, sums, group * OB, blocks, at.count,
                       bias + bias_offset, (long)out_h * out_w, (long)at.row * out_w + at.column, &finish, flags);
        else
#pragma unroll
          for (int i = 0; i < OB * T; ++i) ALIGNED(kept + i * VW) = acc[i];
      }
    }
  }
}
