// The register tile for products of rows of A with rows of B: DOT_M rows with DOT_N rows. The lanes of a vector are
// along the depth.
//
//   sums[i * DOT_N + j] = sum over k of A[i][k] * B[j][k]
//
// No operand is transposed or broadcast. Each lane computes its own part of every sum, and at the end the lanes are
// added. a and b are panels [vectors][DOT_M or DOT_N][VW], with zeros past the depth. The sums of rows that a panel
// does not have mean nothing.
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

#if DOT_SUMS % 4 != 0
#error "DOT_M * DOT_N must be a multiple of 4"
#endif

INLINE float4 add_halves(floatv v) {
#if VW == 4
  return v;
#elif VW == 8
  return v.lo + v.hi;
#else
  const float8 half8 = v.lo + v.hi;
  return half8.lo + half8.hi;
#endif
}

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
  // Halves of a vector are added until four lanes are left. Four such vectors then give four sums at once. The vectors
  // are stored in an array, so that one loop does all this.
  floatv parts[DOT_SUMS];
#pragma unroll
  for (int i = 0; i < DOT_SUMS; ++i) parts[i] = acc[i];
  NO_UNROLL
  for (int i = 0; i < DOT_SUMS; i += 4) {
    const float4 p = add_halves(parts[i]);
    const float4 q = add_halves(parts[i + 1]);
    const float4 r = add_halves(parts[i + 2]);
    const float4 s = add_halves(parts[i + 3]);
    vstore4(((float4)(p.s0, q.s0, r.s0, s.s0) + (float4)(p.s1, q.s1, r.s1, s.s1)) +
                ((float4)(p.s2, q.s2, r.s2, s.s2) + (float4)(p.s3, q.s3, r.s3, s.s3)),
            0, sums + i);
  }
}
