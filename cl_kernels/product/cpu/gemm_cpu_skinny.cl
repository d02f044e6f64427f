// Products of a few rows of STORED with a packed weight for CPUs, computed in fp32: C = f(A * B (+ C) (+ bias)); f is
// as in product/epilogue.h.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, m small
//
// B is in the column panels [ceil(n / NR)][k][NR] of gemm_pack, whose elements are PACKED. A[i][k] = a[i * from_a.row +
// k * from_a.column]. A unit of work is one vector of columns over the whole depth, so that few columns still give every
// core its share. If A has one row and an item has all vectors of a panel, it multiplies the whole panel at once. So it
// reads the panel from start to end.
#include "product/cpu/skinny_tile.h"

#define ROWS SKINNY_ROWS

CPU_KERNEL void gemm_skinny(__global const STORED* restrict a, const ulong a_offset, __global const PACKED* restrict b,
                            const ulong b_offset, __global RESULT* restrict c, const ulong c_offset,
                            __global const RESULT* restrict bias, const ulong bias_offset, EPILOGUE_PARAMETERS,
                            const ProductParameters product, const StridedParameters from_a,
                            const ResultParameters to) {
  a += a_offset;
  b += b_offset;
  c += c_offset;
  bias += bias_offset;
  const int m = (int)product.m, k = (int)product.k, flags = product.flags;
  const long n = product.n;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  const long units = (n + VW - 1) / VW;
  const Finish finish = FINISH_OF(0);
  const long end = units * (item + 1) / items;
  int vectors;
  NO_UNROLL
  for (long unit = units * item / items; unit < end; unit += vectors) {
    __global const PACKED* panel = b + unit / NV * k * NR + unit % NV * VW;
    vectors = m == 1 && unit % NV == 0 && unit + NV <= end ? NV : 1;
    NO_UNROLL
    for (int row = 0; row < m; row += ROWS) {
      __global const STORED* from[ROWS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) from[i] = a + min(row + i, m - 1) * from_a.row;
      floatv tile[ROWS > NV ? ROWS : NV];
      if (vectors == NV)
        skinny_row_of_panel(tile, from, from_a.column, panel, k);
      else
        skinny_multiply(tile, from, m - row, from_a.column, panel, k);
      NO_UNROLL
      for (long vector = unit; vector < unit + vectors; ++vector) {
        __global const RESULT* shift = bias + (flags & BIAS_PER_COLUMN ? vector * VW : row);
        const Target target = {c + row * to.row, to.row, row, min(ROWS, m - row), flags, shift};
        store_columns(tile + (vector - unit), 1, &target, &finish, 0, vector * VW, (int)min((long)VW, n - vector * VW),
                      shift);
      }
    }
  }
}
