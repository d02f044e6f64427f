// Transposes a square of VW x VW floats from one place in memory to another. The square stays in the cache, not in
// registers. The code is a third as long as that of layout/transpose.h. This helps kernels that take long to compile.
#include "common/vector.h"
#include "common/element.h"

// Transposes squares[0] and returns the index of the square that holds the result.
INLINE int transpose_private(floatv squares[2][VW]) {
  // Each pass interleaves row i with row i + VW/2 (a perfect shuffle). log2(VW) passes transpose the square.
  int from = 0;
  NO_UNROLL
  for (int pass = 1; pass < VW; pass *= 2, from = 1 - from) {
    NO_UNROLL
    for (int i = 0; i < VW / 2; ++i) {
      const floatv low = squares[from][i], high = squares[from][i + VW / 2];
      floatv mixed;
      mixed.even = low.lo;
      mixed.odd = high.lo;
      squares[1 - from][2 * i] = mixed;
      mixed.even = low.hi;
      mixed.odd = high.hi;
      squares[1 - from][2 * i + 1] = mixed;
    }
  }
  return from;
}

// Defines NAME(in, in_row, out, out_row): out[j * out_row + i] = in[i * in_row + j] for an `in` of `type`. The rows of
// out are aligned to vectors.
#define DEFINE_TRANSPOSE_MEMORY(NAME, type)                                                        \
  INLINE void NAME(__global const type* in, long in_row, __global float* out, long out_row) {      \
    floatv squares[2][VW];                                                                         \
    NO_UNROLL                                                                                      \
    for (int i = 0; i < VW; ++i) squares[0][i] = LOAD_MANY(type, in + i * in_row);                 \
    const int from = transpose_private(squares);                                                   \
    NO_UNROLL                                                                                      \
    for (int i = 0; i < VW; ++i) ALIGNED(out + i * out_row) = squares[from][i];                    \
  }
DEFINE_TRANSPOSE_MEMORY(transpose_memory, float)
