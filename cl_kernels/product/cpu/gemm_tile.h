// The register tile of the CPU GEMM: MR rows times NV vectors of accumulators.
//
//   acc[i][v] += sum over k < depth of a[k * a_step + i] * b[k * b_step + v * VW …]
//
// a is one row panel [depth][MR] of packed A, and b is one column panel [depth][NR] of packed B. Both are padded with
// zeros. The steps are MR and NR, or more if several panels are stored side by side.
// The accumulators must stay in registers: 32 registers hold 12 x 2 or 8 x 3 accumulators, 16 registers hold 4 x 3.
#include "product/cpu/prefetch.h"
#include "common/vector.h"

#ifndef MR
#if VW == 16
#define MR 8
#else
#define MR 4
#endif
#endif
#ifndef NV
#define NV 3
#endif
#define NR (NV * VW)

INLINE void tile_clear(floatv acc[MR * NV]) {
#pragma unroll
  for (int i = 0; i < MR * NV; ++i) acc[i] = (floatv)(0.0f);
}

// Without a prefetch, `a` arrives too late from memory beyond the L2 cache.
#define A_AHEAD 24  // Steps of k.

INLINE void tile_multiply(floatv acc[MR * NV], __global const float* a, long a_step, __global const float* b,
                          long b_step, int depth) {
  for (int k = 0; k < depth; ++k) {
    floatv bv[NV];
#pragma unroll
    for (int v = 0; v < NV; ++v) bv[v] = ALIGNED_CONST(b + v * VW);
#pragma unroll
    for (int i = 0; i < MR; ++i) {
      const floatv av = (floatv)(a[i]);
#pragma unroll
      for (int v = 0; v < NV; ++v) acc[i * NV + v] = FMA(av, bv[v], acc[i * NV + v]);
    }
    PREFETCH(a + A_AHEAD * a_step);
    a += a_step;
    b += b_step;
  }
}

// The same for an `a` that is not a panel: a[i * a_row + k] is the element of row i < rows. b_step is NR.
INLINE void tile_multiply_rows(floatv acc[MR * NV], __global const float* a, long a_row, int rows,
                               __global const float* b, int depth) {
  __global const float* from[MR];
#pragma unroll
  for (int i = 0; i < MR; ++i) from[i] = a + min(i, rows - 1) * a_row;
  for (int k = 0; k < depth; ++k, b += NR) {
    floatv bv[NV];
#pragma unroll
    for (int v = 0; v < NV; ++v) bv[v] = ALIGNED_CONST(b + v * VW);
#pragma unroll
    for (int i = 0; i < MR; ++i) {
      const floatv av = (floatv)(from[i][k]);
#pragma unroll
      for (int v = 0; v < NV; ++v) acc[i * NV + v] = FMA(av, bv[v], acc[i * NV + v]);
    }
  }
}
