// GEMM on matrix units: C = f(A * B (+ C) (+ bias)) of fp32 matrices. The elements are rounded to tf32, fp16 or bf16 on
// their way into local memory. They are multiplied in this type and summed in fp32. f is as in product/epilogue.h.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one product per batch index
//
// A work-group computes a BM x BN tile (product/matrix_tile.h). Local memory holds STAGES slices of both operands, (BM
// + BN) * 64 bytes each. A_ALONG_K, B_ALONG_K, a_step, b_step, VEC and VEC_C are as in gemm_block.cl. VEC_C is at most
// RUN of the unit.
//
// Deep products with few tiles are cut into `parts` along the depth, as in gemm_block.cl.
#ifndef A_ALONG_K
#define A_ALONG_K 1
#endif
#ifndef B_ALONG_K
#define B_ALONG_K 0
#endif
#ifndef VEC
#define VEC 1
#endif
#include "product/matrix_source.h"

#define LOADS_A (PARTS_OF(BM) * 16)
#define LOADS_B (PARTS_OF(BN) * 16)

typedef struct {
  MatrixSource a, b;
} Operands;

INLINE void operands_load(const Operands* o, float* a, float* b) {
  source_load(&o->a, a, BM, VEC);
  source_load(&o->b, b, BN, VEC);
}

INLINE void operands_end(float* a, float* b, int depth) {
  source_end(a, depth, BM, A_ALONG_K);
  source_end(b, depth, BN, B_ALONG_K);
}

INLINE void operands_move(Operands* o, int depth) {
  o->a.at += depth * o->a.step;
  o->b.at += depth * o->b.step;
}

INLINE void operands_keep(const Operands* o, const float* a, const float* b, __local uint* stage) {
  source_keep(a, stage, BM, A_ALONG_K);
  source_keep(b, stage + BM * SLICE_WORDS, BN, B_ALONG_K);
}

#include "product/matrix_loop.h"
#include "product/plain_columns.h"
#include "product/matrix_store.h"
#include "product/tile_place.h"

MATRIX_KERNEL void gemm_matrix(
    __global const float* restrict a, const ulong a_offset, __global const float* restrict b, const ulong b_offset,
    __global float* restrict c, const ulong c_offset, __global const float* restrict bias, const ulong bias_offset,
    EPILOGUE_PARAMETERS, const long m, const long n, const long k, const long a_batch, const long a_step,
    const long b_batch, const long b_step, const long c_batch, const long c_row, const long c_column, const long c_part,
    const long part_depth, const int parts, const int flags) {
  LOCAL_STAGES;
  const TilePlace place = tile_place(m, n, parts);
  const long row = place.row, column = place.column, index = place.index;
  const uint part = place.part;
  const long first = part * part_depth;
  const int depth = (int)min(k - first, part_depth);

  Operands operands;
  operands.a = source_begin(a + a_offset + index * a_batch + first * (A_ALONG_K ? 1 : a_step), a_step, row, m, depth, BM,
                            A_ALONG_K, VEC);
  operands.b = source_begin(b + b_offset + index * b_batch + first * (B_ALONG_K ? 1 : b_step), b_step, column, n, depth,
                            BN, B_ALONG_K, VEC);
  TileSums acc;
  tile_multiply(acc, &operands, stages, depth);

  const Target target = {c + c_offset + index * c_batch + part * c_part, bias + bias_offset, c_row, c_column, flags};
  const Finish finish = FINISH_OF(index);
  const Columns columns = {0};
  tile_store(acc, row, column, m, n, &columns, &target, &finish);
}
