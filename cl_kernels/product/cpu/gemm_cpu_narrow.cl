// Products with few columns for CPUs, computed in fp32: C = f(A * B (+ C) (+ bias)); f is as in product/epilogue.h.
//
//   C[i][j] = sum over k of A[i][k] * B[k][j]        m x n, depth k, n small
//
// The rows of A are contiguous: A[i][k] = a[i * from_a.leading_dimension + k]. Each item copies B to its slice of
// `scratch`, column after column. A unit of work is VW rows of A, which stay in the L1 cache while they meet all
// columns. VW is 8. With WIDENED, the item also copies the rows of a unit to its slice, as floats. Otherwise each
// column would widen them again.
#ifdef WIDENED
#define ROW_ELEMENT float
#endif
#include "common/row_products.h"
#include "product/target.h"

#ifdef WIDENED
INLINE void widen_row(__global float* to, __global const STORED* from, const long k) {
  long at = 0;
  NO_UNROLL
  for (; at + 4 * VW <= k; at += 4 * VW) {
    UNROLL
    for (int v = 0; v < 4 * VW; v += VW) STORE_MANY(float, to + at + v, LOAD_MANY(STORED, from + at + v));
  }
  NO_UNROLL
  for (; at < k; ++at) to[at] = LOAD(STORED, from, at);
}
#endif

CPU_KERNEL void gemm_narrow(__global const STORED* restrict a, const ulong a_offset, __global const STORED* restrict b,
                            const ulong b_offset, __global RESULT* restrict c, const ulong c_offset,
                            __global const RESULT* restrict bias, const ulong bias_offset,
                            __global float* restrict scratch, const ulong scratch_offset, EPILOGUE_PARAMETERS,
                            const ProductParameters product, const MatrixParameters from_a,
                            const StridedParameters from_b, const ResultParameters to) {
  a += a_offset;
  b += b_offset;
  const long m = product.m, n = product.n, k = product.k;
  const long item = get_global_id(0), items = get_global_size(0);
  const long units = (m + VW - 1) / VW;
  const Target target = {c + c_offset, bias + bias_offset, to.row, to.column, product.flags};
  const Finish finish = FINISH_OF(0);
  const bool simple = !(product.flags & (ADD_TO_C | BIAS_PER_ROW | RELU | ADD_E0 | SNIPPET));
#ifdef WIDENED
  __global float* columns = scratch + scratch_offset + item * (n + VW) * k;
#else
  __global float* columns = scratch + scratch_offset + item * n * k;
#endif
  NO_UNROLL
  for (long j = 0; j < n; ++j)
    NO_UNROLL
    for (long at = 0; at < k; ++at) columns[j * k + at] = LOAD(STORED, b, at * from_b.row + j * from_b.column);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long row = unit * VW;
    __global const ROW_ELEMENT* from[VW];
    UNROLL
    for (int r = 0; r < VW; ++r) {
      __global const STORED* of_a = a + min(row + r, m - 1) * from_a.leading_dimension;
#ifdef WIDENED
      __global float* copy = columns + (n + r) * k;
      widen_row(copy, of_a, k);
      from[r] = copy;
#else
      from[r] = of_a;
#endif
    }
    NO_UNROLL
    for (long j = 0; j < n; ++j) {
      float sums[VW];
      vstorev(row_products(from, columns + j * k, k), 0, sums);
      const int count = (int)min((long)VW, m - row);
      if (simple && count == VW) {  // Rows with flags of their own would take two to three times as long.
        const float shift = product.flags & BIAS_PER_COLUMN ? LOAD(RESULT, target.bias, j) : 0.0f;
        __global RESULT* const out = target.c + row * to.row + j * to.column;
        UNROLL
        for (int r = 0; r < VW; ++r) STORE(RESULT, out, r * to.row, sums[r] + shift);
        continue;
      }
      NO_UNROLL
      for (int r = 0; r < count; ++r) store_sums(sums[r], row + r, j, &target, &finish);
    }
  }
}
