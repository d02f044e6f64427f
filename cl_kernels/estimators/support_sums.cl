// Sums over the support vectors of a support vector machine.
//
//   y[row, p] = rho[p] + sum over v of coefficients[p, v] · K(x[row], v)
//
// K(a, b) = a · b (KIND 0), (gamma a · b + coef0) ^ degree (1), exp(-gamma |a - b|^2) (2), tanh(gamma a · b + coef0) (3).
//
// The vectors are in blocks of VW: vectors (blocks, features, VW), coefficients (blocks, sums, VW). Vectors that pad
// the last block have coefficients of 0. A launch takes the blocks begin … end - 1. `lost` keeps the rounding errors of
// y. Without it, sums of large coefficients of both signs would lose digits.
//
// A work-item takes the rows start … start + chunk - 1, ROWS at once, which share the reads of the vectors.
#define VW 16
#include "common/exp.h"
#include "common/math/tanh.h"
#include "common/two_sum.h"
#include "common/unroll.h"
#include "common/vector.h"
#ifndef KIND
#define KIND 2
#endif
#ifndef DEGREE
#define DEGREE 3
#endif
#ifndef ROWS
#define ROWS 4
#endif

EXP_OF_NEGATIVE(exp_below, floatv, intv)

INLINE floatv kernel_value(const floatv s, const float gamma, const float coef0, const float degree) {
#if KIND == 0
  return s;
#elif KIND == 2
  return exp_below(-gamma * s);
#else
  const floatv v = s * gamma + coef0;
#if KIND == 3
  return JOIN(tanh_, floatv)(v);
#elif DEGREE == 1
  return v;
#elif DEGREE == 2
  return v * v;
#elif DEGREE == 3
  return v * v * v;
#else
  return pow(v, (floatv)degree);
#endif
#endif
}

INLINE float sum_of_lanes(const floatv v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.x + c.y;
}

VECTOR_KERNEL void support_sums(__global const float* restrict x, const ulong x_offset,
                                __global const float* restrict vectors, const ulong vectors_offset,
                                __global const float* restrict coefficients, const ulong coefficients_offset,
                                __global const float* restrict rho, const ulong rho_offset, __global float* restrict y,
                                const ulong y_offset, __global float* restrict lost, const ulong lost_offset,
                                const long rows, const long features, const long sums, const long blocks,
                                const long begin, const long end, const float gamma, const float coef0,
                                const float degree, const long chunk) {
  const long start = get_global_id(0) * chunk;
  const long last = min(start + chunk, rows);
  for (long row = start; row < last; row += ROWS) {
    const long count = min((long)ROWS, last - row);
    __global float* total = y + y_offset + row * sums;
    __global float* rest = lost + lost_offset + row * sums;
    if (begin == 0)
      for (long r = 0; r < count; ++r)
        for (long p = 0; p < sums; ++p) {
          total[r * sums + p] = rho[rho_offset + p];
          rest[r * sums + p] = 0.0f;
        }
    for (long block = begin; block < end; ++block) {
      __global const float* v = vectors + vectors_offset + block * features * VW;
      __global const float* c = coefficients + coefficients_offset + block * sums * VW;
      floatv k[ROWS];
      __global const float* from[ROWS];
      UNROLL
      for (int r = 0; r < ROWS; ++r) {
        k[r] = (floatv)0.0f;
        from[r] = x + x_offset + min(row + r, last - 1) * features;  // Rows after the last one are replaced by the last
                                                                     // one.
      }
      for (long f = 0; f < features; ++f) {
        const floatv at = UNALIGNED_CONST(v + f * VW);
        UNROLL
        for (int r = 0; r < ROWS; ++r) {
          const float own = from[r][f];
#if KIND == 2
          const floatv apart = own - at;
          k[r] = FMA(apart, apart, k[r]);
#else
          k[r] = FMA((floatv)own, at, k[r]);
#endif
        }
      }
      for (long r = 0; r < count; ++r) {
        const floatv value = kernel_value(k[r], gamma, coef0, degree);
        for (long p = 0; p < sums; ++p)
          TWO_SUM(float, total[r * sums + p], rest[r * sums + p],
                  sum_of_lanes(UNALIGNED_CONST(c + p * VW) * value));
      }
    }
    if (end == blocks)
      for (long i = 0; i < count * sums; ++i) total[i] = WITH_LOST(total[i], rest[i]);
  }
}
