// Transposes a square of VW x VW floats from one place in memory to another, by way of the cache: a third of the code of
// common/transpose.h, which matters in kernels that take long to compile.
#include "common/vector.h"

// out[j * out_row + i] = in[i * in_row + j]; rows of out are aligned to vectors.
INLINE void transpose_memory(__global const float* in, long in_row, __global float* out, long out_row) {
  float squares[2][VW * VW];
  NO_UNROLL
  for (int i = 0; i < VW; ++i) vstorev(UNALIGNED_CONST(in + i * in_row), i, squares[0]);
  // Each pass interleaves row i with row i + VW/2; log2(VW) of these perfect shuffles transpose the square.
  int from = 0;
  NO_UNROLL
  for (int pass = 1; pass < VW; pass *= 2, from = 1 - from) {
    NO_UNROLL
    for (int i = 0; i < VW / 2; ++i) {
      const floatv low = vloadv(i, squares[from]), high = vloadv(i + VW / 2, squares[from]);
      floatv mixed;
      mixed.even = low.lo;
      mixed.odd = high.lo;
      vstorev(mixed, 2 * i, squares[1 - from]);
      mixed.even = low.hi;
      mixed.odd = high.hi;
      vstorev(mixed, 2 * i + 1, squares[1 - from]);
    }
  }
  NO_UNROLL
  for (int i = 0; i < VW; ++i) ALIGNED(out + i * out_row) = vloadv(i, squares[from]);
}
