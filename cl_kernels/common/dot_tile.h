// The register tile of products of rows with rows: DOT_M rows of A with DOT_N rows of B, lanes along the depth.
//
//   sums[i * DOT_N + j] = sum over k of A[i][k] * B[j][k]
//
// No operand is transposed or broadcast: each lane gathers its own part of every sum, added up at the end. a and b are
// panels [vectors][DOT_M or DOT_N][VW], zero past the depth. Rows that a panel lacks give sums that mean nothing.
#include "common/vector.h"

#ifndef DOT_M
#if VW == 16
#define DOT_M 8
#else
#define DOT_M 4
#endif
#endif
#ifndef DOT_N
#define DOT_N 3
#endif
#define DOT_SUMS (DOT_M * DOT_N)

#if DOT_SUMS % (VW / 2) != 0
#error "DOT_M * DOT_N must be a multiple of VW / 2"
#endif

INLINE void dot_tile(float sums[DOT_SUMS], __global const float* a, __global const float* b, int vectors) {
  floatv acc[DOT_SUMS];
#pragma unroll
  for (int i = 0; i < DOT_SUMS; ++i) acc[i] = (floatv)(0.0f);
  for (int k = 0; k < vectors; ++k) {
    floatv bv[DOT_N];
#pragma unroll
    for (int j = 0; j < DOT_N; ++j) bv[j] = ALIGNED_CONST(b + j * VW);
#pragma unroll
    for (int i = 0; i < DOT_M; ++i) {
      const floatv av = ALIGNED_CONST(a + i * VW);
#pragma unroll
      for (int j = 0; j < DOT_N; ++j) acc[i * DOT_N + j] = FMA(av, bv[j], acc[i * DOT_N + j]);
    }
    a += DOT_M * VW;
    b += DOT_N * VW;
  }
  // Neighbouring lanes of two vectors are added into one vector, until each holds VW / 2 sums in two lanes each.
#pragma unroll
  for (int parts = VW; parts > 2; parts /= 2) {
#pragma unroll
    for (int i = 0; i < DOT_SUMS * parts / VW / 2; ++i) {
      floatv even, odd;
      even.lo = acc[2 * i].even;
      even.hi = acc[2 * i + 1].even;
      odd.lo = acc[2 * i].odd;
      odd.hi = acc[2 * i + 1].odd;
      acc[i] = even + odd;
    }
  }
  float halves[2 * DOT_SUMS];
#pragma unroll
  for (int i = 0; i < 2 * DOT_SUMS / VW; ++i) vstorev(acc[i], i, halves);
#pragma unroll
  for (int i = 0; i < DOT_SUMS; ++i) sums[i] = halves[2 * i] + halves[2 * i + 1];
}
