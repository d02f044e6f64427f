// GEMM in tiles: C = f(A * B (+ C) (+ bias)) of fp32 matrices; f is as in product/epilogue.h. The engine of
// product/engine.h multiplies the tiles.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one product per batch index
//
//   A_ALONG_K        1: A's axis of stride 1 is the depth (A as it is written), 0: it is the rows (A transposed)
//   B_ALONG_K        1: B's axis of stride 1 is the depth (B transposed), 0: it is the columns
//   a_step, b_step   the strides of the other axes
//   VEC              elements that are read at a time: 4 if everything is aligned to 4 elements, else 1
//   VEC_C            the same for C; with matrix units at most RUN of the unit
//
// Deep products with few tiles are cut into `parts` along the depth, `part_depth` each (the last part may be less). C
// is then a workspace of one m x n matrix for each part, c_part apart, and there is no epilogue. gemm_parts.cl adds up
// the parts.
#ifndef A_ALONG_K
#define A_ALONG_K 1
#endif
#ifndef B_ALONG_K
#define B_ALONG_K 0
#endif
#ifndef VEC
#define VEC 1
#endif
#include "product/matrix_reader.h"

typedef struct {
  MatrixReader a, b;
} Operands;

INLINE void operands_load(const Operands* o, float* a, float* b) {
  matrix_load(&o->a, a, BM, VEC);
  matrix_load(&o->b, b, BN, VEC);
}

INLINE void operands_end(float* a, float* b, int depth) {
  matrix_end(a, depth, BM, A_ALONG_K, VEC);
  matrix_end(b, depth, BN, B_ALONG_K, VEC);
}

INLINE void operands_move(Operands* o, int depth) {
  matrix_move(&o->a, depth);
  matrix_move(&o->b, depth);
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local StageWord* stage) {
  matrix_keep(a, STAGE_A(stage), BM, A_ALONG_K, VEC);
  matrix_keep(b, STAGE_B(stage), BN, B_ALONG_K, VEC);
}

#include "product/multiply.h"
#include "product/plain_columns.h"
#include "product/sink.h"
#include "product/tile_place.h"

TILE_KERNEL void gemm_tiled(__global const float* restrict a, const ulong a_offset, __global const float* restrict b,
                            const ulong b_offset, __global float* restrict c, const ulong c_offset,
                            __global const float* restrict bias, const ulong bias_offset, EPILOGUE_PARAMETERS,
                            const long m, const long n, const long k, const long a_batch, const long a_step,
                            const long b_batch, const long b_step, const long c_batch, const long c_row,
                            const long c_column, const long c_part, const long part_depth, const int parts,
                            const int flags) {
  LOCAL_STAGES;
  const TilePlace place = tile_place(m, n, parts);
  const long row = place.row, column = place.column, index = place.index;
  const uint part = place.part;
  const long first = part * part_depth;
  const int depth = (int)min(k - first, part_depth);

  Operands operands;
  operands.a = matrix_begin(a + a_offset + index * a_batch + first * (A_ALONG_K ? 1 : a_step), a_step, row, m, depth,
                            BM, A_ALONG_K, VEC);
  operands.b = matrix_begin(b + b_offset + index * b_batch + first * (B_ALONG_K ? 1 : b_step), b_step, column, n, depth,
                            BN, B_ALONG_K, VEC);
  TileSums acc;
  tile_multiply(acc, &operands, stages, depth);

  const Target target = {c + c_offset + index * c_batch + part * c_part, bias + bias_offset, c_row, c_column, flags};
  const Finish finish = FINISH_OF(index);
  const Columns columns = {0};
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
