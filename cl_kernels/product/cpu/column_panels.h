// Packs a matrix of STORED with `depth` rows into column panels [ceil(columns / NR)][depth][NR] of floats. Columns
// after the last one are zero. Include this file after gemm_tile.h.
#include "common/load_some.h"
#include "common/transpose_memory.h"
#ifdef STORED_IS_FLOAT
#define load_some_elements load_some
#define transpose_elements transpose_memory
#else
DEFINE_LOAD_SOME(load_some_elements, STORED)
DEFINE_TRANSPOSE_MEMORY(transpose_elements, STORED)
#endif

// The position of vector v of row 0 in a packed block of `depth` rows. Row k is k * NR further.
#define PANEL_AT(v, depth) (((v) / NV) * (long)(depth) * NR + ((v) % NV) * VW)

// Rows of B are contiguous.
INLINE void pack_rows(__global float* dst, __global const STORED* b, long b_row, int depth, int columns) {
  NO_UNROLL
  for (int k = 0; k < depth; ++k, dst += NR, b += b_row) {
    __global float* panel = dst;
    NO_UNROLL
    for (int column = 0; column < columns; panel += (long)depth * NR) {
      NO_UNROLL
      for (int v = 0; v < NV; ++v, column += VW)
        ALIGNED(panel + v * VW) =
            columns - column >= VW ? LOAD_MANY(STORED, b + column)
                                   : load_some_elements(b + column, columns - column, 1);
    }
  }
}

// Columns of B are contiguous.
INLINE void pack_columns(__global float* dst, __global const STORED* b, long b_column, int depth, int columns) {
  const int vectors = (columns + NR - 1) / NR * NV;
  NO_UNROLL
  for (int v = 0; v < vectors; ++v) {
    __global float* out = dst + PANEL_AT(v, depth);
    __global const STORED* in = b + v * VW * b_column;
    const int lanes = columns - v * VW;
    int k = 0;
    if (lanes >= VW) {
      NO_UNROLL
      for (; k + VW <= depth; k += VW) transpose_elements(in + k, b_column, out + k * NR, NR);
    }
    NO_UNROLL
    for (; k < depth; ++k) ALIGNED(out + k * NR) = load_some_elements(in + k, lanes, b_column);
  }
}

// One of the strides is 1.
INLINE void pack_panels(__global float* dst, __global const STORED* b, long b_row, long b_column, int depth,
                        int columns) {
  if (b_column == 1)
    pack_rows(dst, b, b_row, depth, columns);
  else
    pack_columns(dst, b, b_column, depth, columns);
}
