// What the kernels for CPUs have in common that multiply with a quantised weight (quantized/codes.h).
//
// A vector of WORDS words of 32 bits (8 or 16) has SIDES sides of 16 bytes. A side has RUNS runs of 16 neighbouring
// columns: the codes of a group of 16 bytes, or of half a group of 32 bytes. If the sides of a row do not fill its last
// vector, the vector begins earlier, and x has zeros for the sides that the vector before it has.
//
// GROUPS_OF_BLOCK is the number of groups that share a scale. It is 0 for two scales in a group, and -1 for one scale
// in a row.
#ifndef WORDS
#define WORDS 8
#endif
#define VW WORDS
#include "common/element.h"
#include "common/vector.h"
#include "product/cpu/prefetch.h"
#include "quantized/codes.h"
#include "quantized/parameters.h"

#ifndef GROUPS_OF_BLOCK
#define GROUPS_OF_BLOCK 1
#endif

#define SIDES (WORDS / 4)
#define RUNS (8 / BITS)
#define wordsv JOIN(uint, VW)

// The operands of the kernels. Each work-item has a slice of `scratch`.
#define ROW_PARAMETERS                                                                                             \
  __global const float *restrict x, const ulong x_offset, __global const uchar *restrict codes,                    \
      const ulong codes_offset, __global const float *restrict scales, const ulong scales_offset,                  \
      __global const uchar *restrict zeros, const ulong zeros_offset, __global const float *restrict bias,         \
      const ulong bias_offset, __global float *restrict y, const ulong y_offset, __global float *restrict scratch, \
      const ulong scratch_offset
#define ROW_ARGUMENTS                                                                                           \
  x, x_offset, codes, codes_offset, scales, scales_offset, zeros, zeros_offset, bias, bias_offset, y, y_offset, \
      scratch, scratch_offset
#define ADD_OFFSETS                                                                                          \
  x += x_offset, codes += codes_offset, scales += scales_offset, zeros += zeros_offset, bias += bias_offset, \
      y += y_offset, scratch += scratch_offset

// The block of a side of a vector, within its row. `part` tells the two scales of a side apart.
#if GROUPS_OF_BLOCK < 0
#define BLOCK_OF(side, part) 0
#elif GROUPS_OF_BLOCK == 0
#define BLOCK_OF(side, part) (RUNS * (side) + (part))
#else
#define BLOCK_OF(side, part) ((side)*RUNS / 2 / GROUPS_OF_BLOCK)
#endif

// How many bytes before their use codes are asked for. Without this, 8 bits take 1.15 times as long with AVX2.
#define PREFETCH_BYTES 2048

// A vector of one number for each side of a vector of words. NUMBER(side) is the number of a side.
#if WORDS == 8
#define OF_SIDES(NUMBER, first, part) ((float8)((float4)(NUMBER((first), part)), (float4)(NUMBER((first) + 1, part))))
#else
#define OF_SIDES(NUMBER, first, part)                                              \
  ((float16)((float4)(NUMBER((first), part)), (float4)(NUMBER((first) + 1, part)), \
             (float4)(NUMBER((first) + 2, part)), (float4)(NUMBER((first) + 3, part))))
#endif
#define SCALE(side, part) scales[BLOCK_OF(side, part)]
#define ZERO(side, part) (float)zeros[BLOCK_OF(side, part)]

typedef float16 unaligned_float16 __attribute__((aligned(4)));
typedef wordsv unaligned_words __attribute__((aligned(16)));

INLINE float sum_of_lanes(floatv v) {
#if WORDS == 16
  const float8 half8 = v.lo + v.hi;
#else
  const float8 half8 = v;
#endif
  const float4 a = half8.lo + half8.hi;
  return (a.x + a.z) + (a.y + a.w);
}

// The first side of a vector, counted from the start of a row.
INLINE ulong first_side(ulong vector, ulong sides) { return min(SIDES * vector, sides - SIDES); }

// Absolute values as whole numbers, in whose order NaN is above infinity.
#define INFINITE 0x7f800000
INLINE int16 magnitudes_of(float16 v) { return as_int16(v) & 0x7fffffff; }

INLINE int largest_of(int16 v) {
  const int8 a = max(v.lo, v.hi);
  const int4 b = max(a.lo, a.hi);
  return max(max(b.x, b.y), max(b.z, b.w));
}

// The sum of a row, column by column. It is for rows of x that are not finite: if the zero points had their own sum,
// that sum would be infinite too, and the difference NaN.
INLINE float plain_sum(__global const float* x, __global const uchar* codes, __global const float* scales,
                       __global const uchar* zeros, long columns) {
  float sum = 0.0f;
  NO_UNROLL
  for (long k = 0; k < columns; ++k) {
    const uint bits = codes[BITS == 8 ? k : k / 32 * 16 + k % 16];
    const uint code = BITS == 8 ? bits : k % 32 < 16 ? bits & 15 : bits >> 4;
    const long block = BLOCK_OF(k / (16 * RUNS), k / 16 % RUNS);
    sum += x[k] * (scales[block] * ((float)code - ZERO_AT(zeros, block)));
  }
  return sum;
}
