// Products of a few rows with a quantised weight (quantized/codes.h), for CPUs:
//
//   y[i][j] = sum over k of x[i][k] * weight[j][k] (+ bias[j])        at most INPUTS rows i
//
// x has 32 * groups columns, and y has `rows` columns. A unit of work is OUTPUTS rows of the weight. The kernel reads
// codes only, once. It sums a block without the scale, and then multiplies the sum.
//
// INPUTS is the number of rows of x that the kernel computes. GROUPS_OF_BLOCK is the number of groups that share a
// scale. It is 0 for two scales in a group, and -1 for a number that is an argument. A row has whole blocks.
#include "common/vector.h"
#include "quantized/parameters.h"
#include "quantized/vectors.h"

#ifndef INPUTS
#define INPUTS 1
#endif
#ifndef OUTPUTS
#define OUTPUTS 4
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

/// The 32 elements of each row of x that a group of codes multiplies.
INLINE void read_group(float16* low, float16* high, __global const float* const* from, const long group) {
#pragma unroll
  for (int i = 0; i < INPUTS; ++i) {
    low[i] = VECTOR_AT(from[i] + group * 32);
    high[i] = VECTOR_AT(from[i] + group * 32 + 16);
  }
}

/// The scales of a block in OUTPUTS rows, and the numbers that the decoded codes need. `row` has the rows' positions.
INLINE void read_block(float* scale, float* zero, float* zero_of_high, __global const float* scales,
                       __global const uchar* zeros, const long* row, const long blocks, const long block) {
#pragma unroll
  for (int r = 0; r < OUTPUTS; ++r) {
    const long at = row[r] * blocks + block;
    scale[r] = GROUPS_OF_BLOCK == 0 ? 1.0f : scales[at];
    zero[r] = FROM_END(ZERO_AT(zeros, at));
    zero_of_high[r] = ZERO_OF_HIGH(ZERO_AT(zeros, at + SCALES_OF_GROUP - 1));
  }
}

/// Stores the results of a unit.
INLINE void store_sums(__global float* y, const float16* sums, __global const float* bias, const long unit,
                       const QuantizedParameters* sizes) {
#pragma unroll
  for (int s = 0; s < OUTPUTS * INPUTS; ++s) {
    const long i = s % INPUTS, j = unit * OUTPUTS + s / INPUTS;
    if (i < sizes->inputs && j < sizes->rows)
      y[i * sizes->rows + j] = sum_of_lanes(sums[s]) + (sizes->has_bias ? bias[j] : 0.0f);
  }
}

/// Adds the sums of a block, which are without its scale.
INLINE void add_block(float16* sums, const float16* part, const float* scale) {
#pragma unroll
  for (int s = 0; s < OUTPUTS * INPUTS; ++s) sums[s] = FMA((float16)(scale[s / INPUTS]), part[s], sums[s]);
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
  const long units = (rows + OUTPUTS - 1) / OUTPUTS;
  __global const float* from[INPUTS];
#pragma unroll
  for (int i = 0; i < INPUTS; ++i) from[i] = x + min((long)i, sizes.inputs - 1) * groups * 32;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    long row[OUTPUTS];
    float16 sums[OUTPUTS * INPUTS];
#pragma unroll
    for (int r = 0; r < OUTPUTS; ++r) row[r] = min(unit * OUTPUTS + r, rows - 1);
#pragma unroll
    for (int s = 0; s < OUTPUTS * INPUTS; ++s) sums[s] = (float16)(0.0f);
    NO_UNROLL
    for (long block = 0; block < blocks; block += SCALES_OF_GROUP) {
      float zero[OUTPUTS], zero_of_high[OUTPUTS], scale[OUTPUTS];
      float16 part[OUTPUTS * INPUTS];
      read_block(scale, zero, zero_of_high, scales, zeros, row, blocks, block);
#pragma unroll
      for (int s = 0; s < OUTPUTS * INPUTS; ++s) part[s] = (float16)(0.0f);
      const long first = block / SCALES_OF_GROUP * BLOCK_GROUPS(sizes);
      EACH_GROUP
      for (long group = first; group < first + BLOCK_GROUPS(sizes); ++group) {
        float16 low[INPUTS], high[INPUTS];
        read_group(low, high, from, group);
#pragma unroll
        for (int r = 0; r < OUTPUTS; ++r) {
          float16 w0, w1;
          decode_group(&w0, &w1, codes + (row[r] * groups + group) * GROUP_BYTES, zero[r], zero_of_high[r]);
#if GROUPS_OF_BLOCK == 0
          w0 *= scales[row[r] * blocks + block];
          w1 *= scales[row[r] * blocks + block + 1];
#endif
#pragma unroll
          for (int i = 0; i < INPUTS; ++i) {
            part[r * INPUTS + i] = FMA(w0, low[i], part[r * INPUTS + i]);
            part[r * INPUTS + i] = FMA(w1, high[i], part[r * INPUTS + i]);
          }
        }
      }
      add_block(sums, part, scale);
    }
    store_sums(y, sums, bias, unit, &sizes);
  }
}
