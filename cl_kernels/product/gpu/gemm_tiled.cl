// GEMM in tiles: C = f(A * B (+ C) (+ bias)) of matrices, summed in fp32; f is as in product/epilogue.h. The engine of
// engines/engine.h multiplies the tiles.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one product per batch index
//
//   A_ALONG_K        1: A has stride 1 along the depth (A as it is written), 0: along its rows' axis (A transposed)
//   B_ALONG_K        1: B has stride 1 along the depth (B transposed), 0: along its columns' axis
//                    the other axes have the strides `step` of product/parameters.h
//   A_STORAGE, B_STORAGE   how the operands are stored (product/gpu/storage.h): f32 if it is left out
//   VEC              elements that are read at a time: 4 if everything is aligned to 4 elements, else 1
//   VEC_C            the same for C; with matrix units at most RUN of the unit
//
// Deep products with few tiles are cut into parts along the depth. C is then a workspace of one m x n matrix for each
// part, and there is no epilogue. gemm_parts.cl adds up the parts.
#ifndef A_ALONG_K
#define A_ALONG_K 1
#endif
#ifndef B_ALONG_K
#define B_ALONG_K 0
#endif
#ifndef VEC
#define VEC 1
#endif
#ifndef A_STORAGE
#define A_STORAGE STORAGE_F32
#endif
#ifndef B_STORAGE
#define B_STORAGE STORAGE_F32
#endif
// With this, a product of size 1001 with B transposed takes 0.075 ms instead of 0.139 ms on an H200. Other products
// would take up to 6 % longer.
#if VEC == 1 && A_ALONG_K && B_ALONG_K
#define KEEPS_READS
#endif
#include "product/gpu/matrix_operands.h"
#include "product/gpu/engines/multiply.h"
#include "product/gpu/sink.h"
#include "product/gpu/tile_place.h"

TILE_KERNEL void gemm_tiled(__global const char* restrict a, const ulong a_offset, __global const char* restrict b,
                            const ulong b_offset, __global RESULT* restrict c, const ulong c_offset,
                            __global const RESULT* restrict bias, const ulong bias_offset, EPILOGUE_PARAMETERS,
                            const ProductParameters product, const MatrixParameters from_a,
                            const MatrixParameters from_b, const ResultParameters to) {
  LOCAL_STAGES;
  TilePlace tile;
  tile_place_in_bands(&tile, &product);
  const long index = tile.index, first = tile.first;

  Operands operands;
  a += (a_offset + index * from_a.batch + first * (A_ALONG_K ? 1 : from_a.leading_dimension)) * STORED_BYTES(A_STORAGE);
  b += (b_offset + index * from_b.batch + first * (B_ALONG_K ? 1 : from_b.leading_dimension)) * STORED_BYTES(B_STORAGE);
  operands.a = matrix_begin(a, from_a.leading_dimension,
                            tile.row, product.m, tile.depth, BM, A_ALONG_K, A_STORAGE);
  operands.b = matrix_begin(b, from_b.leading_dimension,
                            tile.column, product.n, tile.depth, BN, B_ALONG_K, B_STORAGE);
  TileSums acc;
  tile_multiply(acc, &operands, stages, tile.depth);

  const Target target = {c + c_offset + index * to.batch + tile.part * to.part, bias + bias_offset, to.row, to.column,
                         product.flags};
  const Finish finish = FINISH_OF(index);
  const ColumnParameters columns = {0};
  tile_store(acc, tile.row, tile.column, product.m, product.n, &columns, &target, &finish);
}
