// The common parts of kernels for the layout "channels in blocks". It stores an image (C, H, W) as (ceil(C / VW), H, W,
// VW), so that one vector holds VW neighbouring channels of a pixel. Lanes of the last block without a channel may hold
// anything. Images x are of STORED, results y and the epilogue's operands of RESULT; weights and biases are floats.
//
// The host defines T and STRIDE. T columns of y are computed at a time. STRIDE is their distance in columns of x.
#include "common/vector.h"
#include "conv/parameters.h"
#include "product/epilogue.h"

DEFINE_FINISH(floatv, finish_vector)

// The tiles of a plane of y: T neighbouring columns of a row. The last tile of a row overlaps the one before it, unless
// the whole row is shorter than a tile.
typedef struct {
  int row, column, count;  // `count` is the number of columns to store.
} BlockTile;

INLINE BlockTile block_tile(int tile, int out_w) {
  const int in_row = (out_w + T - 1) / T;
  const BlockTile at = {tile / in_row, max(0, min(tile % in_row * T, out_w - T)), min(T, out_w)};
  return at;
}

// The tile after this one. It takes no divisions.
INLINE void next_tile(BlockTile* at, int out_w) {
  const int column = at->column + T;
  at->row += column >= out_w ? 1 : 0;
  at->column = column >= out_w ? 0 : min(column, out_w - T);
}

// Copies `count` columns of `block` elements as floats, or writes zeros if `from` is null. `block` is a constant.
// Copies of single floats made small layers two to four times slower than vectors.
INLINE void copy_columns(__global float* to, __global const STORED* from, int count, int block) {
  const int elements = count * block;
  int i = 0;
  NO_UNROLL
  for (; i + VW <= elements; i += VW) UNALIGNED(to + i) = from ? LOAD_MANY(STORED, from + i) : (floatv)(0.0f);
  NO_UNROLL
  for (; i < elements; ++i) to[i] = from ? LOAD(STORED, from, i) : 0.0f;
}

// Copies `count` columns of a line of x as floats, from column `start` on, with `block` elements for each column.
// Columns outside of the image are zeros.
INLINE void copy_line(__global float* to, __global const STORED* line, int start, int count, int width, int block) {
  const int first = clamp(-start, 0, count), last = clamp(width - start, first, count);
  copy_columns(to, 0, first, block);
  copy_columns(to + first * block, line + (start + first) * block, last - first, block);
  copy_columns(to + last * block, 0, count - last, block);
}

// Asks for elements of x before they are needed. The processor does not see the distance between blocks of channels as
// a pattern. On PoCL with AVX2, ResNet-50 took 1.3 to 1.6 times as long without it. The builtin is the compiler's. So
// it is left out if the compiler makes code for another machine than the processor, such as SPIR.
#if defined(__x86_64__) || defined(__aarch64__)
#define FETCH_COLUMNS(from, elements) fetch_columns(from, elements)
INLINE void fetch_columns(__global const float* from, int elements) {
#pragma unroll
  for (int i = 0; i < elements; i += 16) __builtin_prefetch((const __private void*)(size_t)(from + i), 0, 3);
}
#else
#define FETCH_COLUMNS(from, elements)
#endif

// The vector of the epilogue's operand e at pixel `pixel` of a block. An operand with row stride 0 is one number.
INLINE floatv block_operand(__global const RESULT* e, long row, long column, int block, long pixel) {
  if (row == 0) return (floatv)(LOAD(RESULT, e, 0));
  return LOAD_MANY(RESULT, e + block * row + (column != 0 ? pixel * VW : 0));
}

// Stores f(sums + bias) at `count` neighbouring pixels of a block, from `pixel` on. y points to the block's first
// pixel. Two pixels at a time share the constants of a long epilogue: x sigmoid(x) took 0.6 times as long.
INLINE void store_pixels(__global RESULT* y, const floatv* sums, int count, floatv bias, int block, long pixel,
                         const Finish* finish, int flags) {
#pragma unroll 2
  for (int t = 0; t < count; ++t, ++pixel) {
    floatv sum = sums[t] + bias, first = sum, second = sum;
    if (READS_E0(flags)) first = block_operand(finish->e0, finish->row0, finish->column0, block, pixel);
    if (READS_E1(flags)) second = block_operand(finish->e1, finish->row1, finish->column1, block, pixel);
    STORE_MANY(RESULT, y + pixel * VW, finish_vector(sum, first, second, finish, flags));
  }
}
