// GEMM for CPUs: C = f(A * B (+ C) (+ bias)), fp32; f is as in product/epilogue.h. STORED is the type of the elements
// that a kernel packs: gemm_pack those of its matrix, gemm_multiply those of B.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, one problem per batch index
//
// 1. gemm_pack copies A into row panels [ceil(m / MR)][k][MR]. Contiguous rows stay where they are.
// 2. gemm_multiply: every work-item is a work-group of its own. It takes units of work (batch index, block of block_n
//    columns, block of block_m rows) one after another. For each block of block_k rows of B it packs its part of B into
//    column panels [block_n / NR][block_k][NR]. The panels are in the item's own slice of `scratch` and stay in the L2
//    cache. Then the item runs the register tile MR x NR over all pairs of a row panel and a column panel.
//
// Flags choose at run time where B and C come from, because two programs would take twice as long to compile:
//   (none)    B[k][j] = b[k * from_b.row + j * from_b.column], where one stride is 1; C[i][j] = c[i * to.row + j].
//   B_PACKED  gemm_pack has packed B into column panels [ceil(n / NR)][k][NR], from_b.batch elements a matrix. GATHERED
//   B is the virtual im2col matrix of product/cpu/gather.h. Its columns also say where in a row of C they go.
//             This is for forward convolution and for backward data. Backward data needs one launch for each remainder
//             of the pixel position modulo the stride.
//   A_ROWS    `packed` is A itself, with rows from_a.leading_dimension apart. The sums have the same bits.
//
// Shapes and strides are arguments. bias, e0 and e1 may be any buffers if no flag asks for them.
#include "product/cpu/gemm_tile.h"
#include "product/cpu/gemm_pack.h"
#include "product/cpu/column_panels.h"
#include "product/cpu/gather.h"
#include "product/cpu/gemm_store.h"
#include "product/cpu/part_flags.h"

#define FLOATS(matrix) ((__global const float*)(matrix))  // Packed elements are floats.

// Copies rows of B to panels: `depth` rows from k_first on, and of each row `columns` columns from column_first on.
INLINE void pack_block(__global float* dst, __global const STORED* matrix, const Gather* gather, __global int* table,
                       const StridedParameters* from_b, int k_first, int depth, long column_first, int columns, int flags) {
  if (flags & GATHERED) {
    const int vectors = (columns + NR - 1) / NR * NV;
    gather_rows(dst, 1, NR, NV, (long)depth * NR, VW, matrix, gather, table, vectors, k_first, k_first + depth);
    return;
  }
  pack_panels(dst, matrix + k_first * from_b->row + column_first * from_b->column, from_b->row, from_b->column, depth,
              columns);
}

// Multiplies a panel of A with a panel of B. With A_ROWS, `a` points to the first of `rows` rows of A itself, which are
// a_row apart.
INLINE void multiply_panels(floatv acc[MR * NV], __global const float* a, long a_row, int rows,
                            __global const float* b, int depth, int flags) {
  tile_clear(acc);
  if (flags & A_ROWS)
    tile_multiply_rows(acc, a, a_row, rows, b, depth);
  else
    tile_multiply(acc, a, MR, b, NR, depth);
}

CPU_KERNEL void gemm_multiply(
    __global const float* restrict packed, const ulong packed_offset, __global const STORED* restrict b,
    const ulong b_offset, __global RESULT* restrict c, const ulong c_offset, __global const RESULT* restrict bias,
    const ulong bias_offset, __global float* restrict scratch, const ulong scratch_offset, EPILOGUE_PARAMETERS,
    const CpuProductParameters product, const MatrixParameters from_a, const StridedParameters from_b,
    const ResultParameters to, const GatherParameters images, const ColumnParameters places) {
  packed += packed_offset;
  b += b_offset;
  c += c_offset;
  bias += bias_offset;
  const int m = (int)product.m, k = (int)product.k, flags = product.flags;
  const int block_m = product.block_m, block_n = product.block_n, block_k = product.block_k;
  const long n = product.n, c_row = to.row;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  __global float* scratch_block = scratch + scratch_offset + item * product.slice;
  __global int* table = (__global int*)(scratch_block + (long)block_k * block_n);
  const long blocks_n = (n + block_n - 1) / block_n;
  const int blocks_m = (m + block_m - 1) / block_m;
  const long units = product.batch * blocks_n * blocks_m;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int row_first = (int)(unit % blocks_m) * block_m, row_end = min(m, row_first + block_m);
    const long column_first = unit / blocks_m % blocks_n * block_n;
    const int columns = (int)min((long)block_n, n - column_first);
    const int vectors = (columns + NR - 1) / NR * NV;
    const long index = unit / blocks_m / blocks_n;
    __global const STORED* matrix = b + index * from_b.batch;
    const Gather gather = GATHER_OF(images, places, n, images.size - index * from_b.batch);
    if (flags & GATHERED) gather_columns(table, &gather, column_first, vectors);
    const Finish finish = FINISH_OF(index);
    int k_first = 0;
    do {  // Runs once even if k is 0, so that C is written.
      const int depth = min(block_k, k - k_first);
      const bool is_packed = (flags & B_PACKED) != 0;
      __global const float* block = is_packed ? FLOATS(matrix) + (column_first * k + (long)k_first * NR) : scratch_block;
      const long panel_depth = is_packed ? k : depth;
      if (!is_packed)
        pack_block(scratch_block, matrix, &gather, table, &from_b, k_first, depth, column_first, columns, flags);
      const int now = flags_of_part(flags, k_first == 0, k_first + depth >= k);
      NO_UNROLL
      for (int v0 = 0; v0 < vectors; v0 += NV) {
        NO_UNROLL
        for (int row = row_first; row < row_end; row += MR) {
          const Target target = {c + index * to.batch + row * c_row, c_row, row, min(MR, row_end - row), now,
                                 bias + index * product.bias_batch + (flags & BIAS_PER_COLUMN ? column_first : row)};
          if ((now & (ADD_TO_C | GATHERED)) == ADD_TO_C)
            prefetch_rows(target.c + column_first + v0 * VW, c_row, target.rows, min(NR, columns - v0 * VW));
          floatv acc[MR * NV];
          const long a_first =
              flags & A_ROWS ? row * from_a.leading_dimension + k_first : (long)row * k + (long)k_first * MR;
          multiply_panels(acc, packed + index * from_a.batch + a_first, from_a.leading_dimension, target.rows,
                          block + PANEL_AT(v0, panel_depth), depth, flags);
          store_tile(acc, &target, &finish, table, column_first, v0, columns);
        }
      }
      k_first += block_k;
    } while (k_first < k);
  }
}
