// GEMM for GPUs: C = f(A * B (+ C) (+ bias)), fp32; f is as in product/epilogue.h.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one product per batch index
//
// A work-group computes a BM x BN tile (product/block.h). Both operands go through local memory, which holds two times
// BK * (BM + BN + 8) floats.
//
//   A_ALONG_K        1: A's axis of stride 1 is the depth (A as it is written), 0: it is the rows (A transposed)
//   B_ALONG_K        1: B's axis of stride 1 is the depth (B transposed), 0: it is the columns
//   a_step, b_step   the strides of the other axes
//   VEC              elements that are read at a time: 4 if everything is aligned to 4 elements, else 1
//   VEC_C            the same for C
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
#include "product/block_source.h"

typedef struct {
  MatrixSource a, b;
} Operands;

INLINE void operands_load(const Operands* o, float* a, float* b) {
  source_load(&o->a, a, BM, A_ALONG_K, VEC);
  source_load(&o->b, b, BN, B_ALONG_K, VEC);
}

INLINE void operands_end(float* a, float* b, int depth) {
  source_end(a, depth, BM, A_ALONG_K, VEC);
  source_end(b, depth, BN, B_ALONG_K, VEC);
}

INLINE void operands_move(Operands* o, int depth) {
  o->a.at += depth * o->a.step;
  o->b.at += depth * o->b.step;
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local float* stage) {
  source_keep(a, stage, PITCH_A, BM, A_ALONG_K, VEC);
  source_keep(b, stage + BK * PITCH_A, PITCH_B, BN, B_ALONG_K, VEC);
}

#include "product/block_multiply.h"
#include "product/plain_columns.h"
#include "product/block_store.h"
#include "product/tile_place.h"

BLOCK_KERNEL void gemm_block(__global const float* restrict a, const ulong a_offset, __global const float* restrict b,
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
  operands.a = source_begin(a + a_offset + index * a_batch + first * (A_ALONG_K ? 1 : a_step), a_step, row, m, depth,
                            BM, A_ALONG_K, VEC);
  operands.b = source_begin(b + b_offset + index * b_batch + first * (B_ALONG_K ? 1 : b_step), b_step, column, n, depth,
                            BN, B_ALONG_K, VEC);
  TileSums acc;
  tile_multiply(acc, &operands, stages, depth);

  const Target target = {c + c_offset + index * c_batch + part * c_part, bias + bias_offset, c_row, c_column, flags};
  const Finish finish = FINISH_OF(index);
  const Columns columns = {0};
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
