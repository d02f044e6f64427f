// Convolution as a product in tiles, fp32. An engine (product/engines/) multiplies the tiles. B is gathered from the
// images while it is read, so there is no matrix of patches.
//
//   C[i][j] = f(sum over k of A[i][k] * src[image][channel][h][w] (+ bias[i]))      m x n, depth k, a product per group
//   j = (image, oh, ow), h = oh * step_h + start_h + r * tap_h, w likewise; zero outside the plane
//   k = (channel / t, r, s, channel % t) with t = CHANNEL_VECTOR, so that t neighbours in the depth have the same tap
//
// A forward convolution reads x with step = stride, start = -padding, tap = dilation. The gradient of the input is
// several such products, one for each remainder of the position modulo the stride. They read the gradient of the
// output, with negative taps.
//
// A row of A is contiguous along the depth. Its length is a multiple of four.
//
// Deep products with few tiles are cut along the depth, as in gemm_tiled.cl. gemm_parts.cl adds up the parts.
#define VEC 4
#ifndef A_STORAGE
#define A_STORAGE STORAGE_F32
#endif
#include "product/gpu/matrix_reader.h"
#include "conv/gpu/patches_reader.h"

typedef struct {
  MatrixReader a;
  PatchesReader b;
} Operands;

INLINE void operands_load(Operands* o, VALUE_TYPE* a, VALUE_TYPE* b) {
  matrix_load(&o->a, a, BM, A_STORAGE);
  patches_load(&o->b, b);
}

INLINE void operands_end(VALUE_TYPE* a, VALUE_TYPE* b, int depth) {
  matrix_end(a, depth, BM, 1);
  patches_end(b, depth);
}

INLINE void operands_move(Operands* o, int depth) {
  matrix_move(&o->a, depth);
  patches_move(&o->b, depth);
}

INLINE void operands_keep(const Operands* o, const VALUE_TYPE* a, const VALUE_TYPE* b, __local StageWord* stage) {
  matrix_keep(a, STAGE_A(stage), BM, 1);
  patches_keep(&o->b, b, STAGE_B(stage));
}

#define MOVES_BY_SCALAR
#include "product/gpu/engines/multiply.h"
#include "product/gpu/sink.h"
#include "product/gpu/tile_place.h"

TILE_KERNEL void conv2d_tiled(__global const char* restrict a, const ulong a_offset, __global const char* restrict src,
                              const ulong src_offset, __global RESULT* restrict c, const ulong c_offset,
                              __global const RESULT* restrict bias, const ulong bias_offset,
                              __global const int* restrict table, const ulong table_offset, EPILOGUE_PARAMETERS,
                              const ProductParameters product, const MatrixParameters from_a,
                              const PatchesParameters patches, const WindowParameters window,
                              const ResultParameters to, const ColumnParameters columns) {
  LOCAL_STAGES;
  TilePlace tile;
  tile_place_by_columns(&tile, &product);
  const int m = (int)product.m, n = (int)product.n, row = (int)tile.row, column = (int)tile.column;
  const uint index = (uint)tile.index;

  Operands operands;
  a += (a_offset + index * from_a.batch + tile.first) * STORED_BYTES(A_STORAGE);
  src += (src_offset + index * patches.group) * STORED_BYTES(SRC_STORAGE);
  operands.a = matrix_begin(a, (int)from_a.leading_dimension, row, m, tile.depth, BM, 1, A_STORAGE);
  patches_begin(&operands.b, src, table + table_offset, tile.first, column, n, &patches, &window);
  TileSums acc;
  tile_multiply(acc, &operands, stages, tile.depth);

  c += c_offset + index * to.batch + tile.part * to.part;
  const Target target = {c, bias + bias_offset + index * m, to.row, 1, product.flags};
  const Finish finish = FINISH_OF(index);
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
