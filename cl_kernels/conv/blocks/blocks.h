// The common parts of kernels over channels in blocks. An image (C, H, W) is kept as (ceil(C / VW), H, W, VW) then, so
// that one vector holds neighbouring channels of a pixel. The lanes of the last block that have no channel may hold
// anything.
//
// The host defines T, the columns of y that are computed at a time, and STRIDE, the columns of x between them.
#include "common/vector.h"
#include "conv/parameters.h"
#include "product/epilogue.h"

DEFINE_FINISH(floatv, finish_vector)

// The tiles of a plane of y: T neighbouring columns of a row. The last tile of a row overlaps the one before it, unless
// the whole row is shorter than a tile.
typedef struct {
  int row, column, count;  // `count` columns are stored.
} BlockTile;

INLINE BlockTile block_tile(int tile, int out_w) {
  const int in_row = (out_w + T - 1) / T;
  const BlockTile at = {tile / in_row, max(0, min(tile % in_row * T, out_w - T)), min(T, out_w)};
  return at;
}

// Copies `count` columns of `block` floats, or writes zeros if `from` is null. `block` is a constant.
INLINE void copy_columns(__global float* to, __global const float* from, int count, int block) {
  if (block == VW) {  // Float by float, small depthwise layers took twice to four times as long.
    NO_UNROLL
    for (int i = 0; i < count; ++i) UNALIGNED(to + i * VW) = from ? UNALIGNED_CONST(from + i * VW) : (floatv)(0.0f);
    return;
  }
  NO_UNROLL
  for (int i = 0; i < count * block; ++i) to[i] = from ? from[i] : 0.0f;
}

// `count` columns of a line of x from column `start` on, with `block` floats for each column. A line that begins or ends
// outside of the image is copied to `scratch`, with zeros around it.
INLINE __global const float* columns_of_line(__global const float* line, int start, int count, int width, int block,
                                             __global float* scratch) {
  if (start >= 0 && start + count <= width) return line + start * block;
  const int first = clamp(-start, 0, count), last = clamp(width - start, first, count);
  copy_columns(scratch, 0, first, block);
  copy_columns(scratch + first * block, line + (start + first) * block, last - first, block);
  copy_columns(scratch + last * block, 0, count - last, block);
  return scratch;
}

// The vector of an operand of the epilogue, for pixel `pixel` of a block. An operand with row stride 0 is one number.
INLINE floatv block_operand(__global const float* e, long row, long column, int block, long pixel) {
  if (row == 0) return (floatv)(*e);
  return UNALIGNED_CONST(e + block * row + (column != 0 ? pixel * VW : 0));
}

// Stores f(sums + bias) at neighbouring pixels of a block of y from `pixel` on. y is at the block's first pixel.
INLINE void store_pixels(__global float* y, const floatv* sums, int count, floatv bias, int block, long pixel,
                         const Finish* finish, int flags) {
  NO_UNROLL
  for (int t = 0; t < count; ++t, ++pixel) {
    floatv sum = sums[t] + bias, first = sum, second = sum;
    if (READS_E0(flags)) first = block_operand(finish->e0, finish->row0, finish->column0, block, pixel);
    if (READS_E1(flags)) second = block_operand(finish->e1, finish->row1, finish->column1, block, pixel);
    UNALIGNED(y + pixel * VW) = finish_vector(sum, first, second, finish, flags);
  }
}
