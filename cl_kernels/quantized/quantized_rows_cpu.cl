// Products of a few rows with a quantised weight (quantized/codes.h), for CPUs:
//
//   y[i][j] = sum over k of x[i][k] * weight[j][k] (+ bias[j])        at most INPUTS rows i
//
// x has 32 * groups columns, and y has `rows` columns. A unit of work is one row of the weight. The kernel reads codes
// only, once. It sums a block without the scale, and then multiplies the sum. Several rows at a time share reads of x,
// but their sums do not fit into 16 registers: that takes 1.2 to 1.6 times as long.
//
// INPUTS is the number of rows of x that the kernel computes. GROUPS_OF_BLOCK is the number of groups that share a
// scale. It is 0 for two scales in a group, and -1 for a number that is an argument. A row has whole blocks.
#include "common/vector.h"
#include "quantized/parameters.h"
#include "quantized/vectors.h"

#ifndef INPUTS
#define INPUTS 1
#endif
#ifndef GROUPS_OF_BLOCK
#define GROUPS_OF_BLOCK 1
#endif

#if GROUPS_OF_BLOCK < 0
#define BLOCK_GROUPS(sizes) (sizes).groups_of_block
#define EACH_GROUP NO_UNROLL
#else
#define BLOCK_GROUPS(sizes) (GROUPS_OF_BLOCK == 0 ? 1 : GROUPS_OF_BLOCK)
#define EACH_GROUP _Pragma("unroll")
#endif
#define SCALES_OF_GROUP (GROUPS_OF_BLOCK == 0 ? 2 : 1)

typedef float16 unaligned_float16 __attribute__((aligned(4)));
#define VECTOR_AT(p) (*(__global const unaligned_float16*)(p))

INLINE float sum_of_lanes(float16 v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  return (b.x + b.z) + (b.y + b.w);
}

CPU_KERNEL void quantized_rows_cpu(__global const float* restrict x, const ulong x_offset,
                                   __global const uchar* restrict codes, const ulong codes_offset,
                                   __global const float* restrict scales, const ulong scales_offset,
                                   __global const uchar* restrict zeros, const ulong zeros_offset,
                                   __global const float* restrict bias, const ulong bias_offset,
                                   __global float* restrict y, const ulong y_offset, const QuantizedParameters sizes) {
  x += x_offset;
  codes += codes_offset;
  scales += scales_offset;
  zeros += zeros_offset;
  bias += bias_offset;
  y += y_offset;
  const long rows = sizes.rows, groups = sizes.groups, blocks = sizes.blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  __global const float* from[INPUTS];
#pragma unroll
  for (int i = 0; i < INPUTS; ++i) from[i] = x + min((long)i, sizes.inputs - 1) * groups * 32;
  NO_UNROLL
  for (long row = rows * item / items; row < rows * (item + 1) / items; ++row) {
    float16 sums[INPUTS];
#pragma unroll
    for (int i = 0; i < INPUTS; ++i) sums[i] = (float16)(0.0f);
    NO_UNROLL
    for (long block = 0; block < blocks; block += SCALES_OF_GROUP) {
      const long at = row * blocks + block;
      const float zero = FROM_END(ZERO_AT(zeros, at));
      const float zero_of_high = ZERO_OF_HIGH(ZERO_AT(zeros, at + SCALES_OF_GROUP - 1));
      float16 part[INPUTS];
#pragma unroll
      for (int i = 0; i < INPUTS; ++i) part[i] = (float16)(0.0f);
      const long first = block / SCALES_OF_GROUP * BLOCK_GROUPS(sizes);
      EACH_GROUP
      for (long group = first; group < first + BLOCK_GROUPS(sizes); ++group) {
        float16 low, high;
        decode_group(&low, &high, codes + (row * groups + group) * GROUP_BYTES, zero, zero_of_high);
#if GROUPS_OF_BLOCK == 0
        low *= scales[at];
        high *= scales[at + 1];
#endif
#pragma unroll
        for (int i = 0; i < INPUTS; ++i) {
          part[i] = FMA(low, VECTOR_AT(from[i] + group * 32), part[i]);
          part[i] = FMA(high, VECTOR_AT(from[i] + group * 32 + 16), part[i]);
        }
      }
      const float scale = GROUPS_OF_BLOCK == 0 ? 1.0f : scales[at];
#pragma unroll
      for (int i = 0; i < INPUTS; ++i) sums[i] = FMA((float16)(scale), part[i], sums[i]);
    }
#pragma unroll
    for (int i = 0; i < INPUTS; ++i)
      if (i < sizes.inputs) y[i * rows + row] = sum_of_lanes(sums[i]) + (sizes.has_bias ? bias[row] : 0.0f);
  }
}
