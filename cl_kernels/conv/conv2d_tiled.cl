// Convolution as a product in tiles, fp32. The engine of product/engine.h multiplies the tiles. B is gathered from the
// images while it is read, so there is no matrix of patches.
//
//   C[i][j] = f(sum over k of A[i][k] * src[image][channel][h][w] (+ bias[i]))      m x n, depth k, a product per group
//   j = (image, oh, ow), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//   k = (channel / t, r, s, channel % t) with t = TOGETHER, so that t neighbours in the depth have the same tap
//
// A forward convolution reads x with step = stride, start = -padding, tap = dilation. The gradient of the input is
// several such products, one for each remainder of the position modulo the stride. They read the gradient of the
// output, with negative taps.
//
// A row of A has the elements of the depth one after another. Their number is a multiple of four.
//
// plane = (height, width, taps_h, taps_w, pixels of a column's image: OH * OW, OW, distance of images of src, unused)
// walk = (step_h, step_w, start_h, start_w, tap_h, tap_w, unused, unused), to as in conv/conv_columns.h.
//
// Deep products with few tiles are cut along the depth, as in gemm_tiled.cl. conv2d_tiled_parts.cl adds up the parts.
#define VEC 4
#include "product/matrix_reader.h"
#include "conv/conv_columns.h"
#include "conv/conv_tile.h"
#include "conv/patches_reader.h"

typedef struct {
  MatrixReader a;
  PatchesReader b;
} Operands;

INLINE void operands_load(Operands* o, float* a, float* b) {
  matrix_load(&o->a, a, BM, VEC);
  patches_load(&o->b, b);
}

INLINE void operands_end(float* a, float* b, int depth) {
  matrix_end(a, depth, BM, 1, VEC);
  patches_end(b, depth);
}

INLINE void operands_move(Operands* o, int depth) {
  matrix_move(&o->a, depth);
  patches_move(&o->b, depth);
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local StageWord* stage) {
  matrix_keep(a, STAGE_A(stage), BM, 1, VEC);
  patches_keep(&o->b, b, STAGE_B(stage));
}

#define MOVES_BY_SCALAR
#include "product/multiply.h"
#include "product/sink.h"

TILE_KERNEL void conv2d_tiled(__global const float* restrict a, const ulong a_offset, __global const float* restrict src,
            const ulong src_offset, __global float* restrict c, const ulong c_offset, __global const float* restrict bias,
            const ulong bias_offset, __global const int* restrict table, const ulong table_offset, EPILOGUE_PARAMETERS,
            const int m, const int n, const int k, const long a_group, const int a_step, const long src_group,
            const long c_group, const long c_row, const long8 plane, const long8 walk, const long4 to,
            const int part_depth, const int parts, const int flags) {
  LOCAL_STAGES;
  const ConvTile tile = conv_tile(m, n, k, part_depth, parts);
  const int row = tile.row, column = tile.column;
  const uint index = tile.index;

  Operands operands;
  operands.a = matrix_begin(a + a_offset + index * a_group + tile.first, a_step, row, m, tile.depth, BM, 1, VEC);
  operands.b = patches_begin(src + src_offset + index * src_group, table + table_offset, tile.first,
                            column, n, plane, walk);
  TileSums acc;
  tile_multiply(acc, &operands, stages, tile.depth);

  // A part of the depth goes to a matrix of its own, which has no gaps between the images.
  const bool cut = parts > 1;
  const Columns columns = columns_of(plane, to, cut);
  const long size = (long)m * n;
  const Target target = {c + c_offset + (cut ? (index * parts + tile.part) * size : index * c_group),
                         bias + bias_offset + index * m, cut ? n : c_row, 1, cut ? 0 : flags};
  const Finish finish = FINISH_OF(index);
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
