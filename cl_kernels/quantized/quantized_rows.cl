// Products of a few rows with a quantised weight (quantized/codes.h), for GPUs:
//
//   y[i][j] = sum over k of x[i][k] * weight[j][k] (+ bias[j])        at most INPUTS rows i
//
// x has 32 * groups columns, and y has `rows` columns. A work-group of GROUP items computes OUTPUTS rows of the weight.
// Its items take groups of columns in turn, so that neighbours read neighbouring bytes.
#include "common/group_tree.h"
#include "common/inline.h"
#include "quantized/codes.h"
#include "quantized/parameters.h"

#ifndef GROUP
#define GROUP 64
#endif
#ifndef INPUTS
#define INPUTS 1
#endif
#ifndef OUTPUTS
#define OUTPUTS 4
#endif

#define ADDED(a, b) ((a) + (b))
GROUP_TREE(group_sum, ADDED)

// The four codes in the bytes of `word`, as numbers from 0 on. `shift` is 4 for the high halves of the bytes.
#define FOUR_CODES(word, shift, mask)                                                                           \
  convert_float4(                                                                                               \
      (uint4)((word) >> (shift), (word) >> (8 + (shift)), (word) >> (16 + (shift)), (word) >> (24 + (shift))) & \
      (uint4)(mask))

// The sum over four neighbouring columns.
INLINE float four_products(float4 w, __global const float* x) { return dot(w, vload4(0, x)); }

GROUP_KERNEL(GROUP, 1)
void quantized_rows(__global const float* restrict x, const ulong x_offset, __global const uchar* restrict codes,
                    const ulong codes_offset, __global const float* restrict scales, const ulong scales_offset,
                    __global const uchar* restrict zeros, const ulong zeros_offset, __global const float* restrict bias,
                    const ulong bias_offset, __global float* restrict y, const ulong y_offset,
                    const QuantizedParameters sizes) {
  __local float scratch[GROUP];
  const long unit = get_group_id(0);
  const long rows = sizes.rows, groups = sizes.groups;
  float sums[OUTPUTS * INPUTS];
#pragma unroll
  for (int s = 0; s < OUTPUTS * INPUTS; ++s) sums[s] = 0.0f;
  for (long group = get_local_id(0); group < groups; group += GROUP) {
    const int two = sizes.groups_of_block == 0;
    const long block = two ? 2 * group : group / sizes.groups_of_block;
#pragma unroll
    for (int r = 0; r < OUTPUTS; ++r) {
      const long row = min(unit * OUTPUTS + r, rows - 1);
      const long at = scales_offset + row * sizes.blocks + block;
      const float low_scale = scales[at], high_scale = scales[at + two];
      const long of_zero = zeros_offset + row * sizes.blocks + block;
      const float low_zero = ZERO_AT(zeros, of_zero);
      const float high_zero = ZERO_AT(zeros, of_zero + two);
      __global const uint4* from = (__global const uint4*)(codes + codes_offset + (row * groups + group) * GROUP_BYTES);
      uint words[GROUP_BYTES / 4];
#pragma unroll
      for (int w = 0; w < GROUP_BYTES / 16; ++w) vstore4(from[w], w, words);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#if BITS == 4
        const float4 low = FOUR_CODES(words[q], 0, 15), high = FOUR_CODES(words[q], 4, 15);
#else
        const float4 low = FOUR_CODES(words[q], 0, 255), high = FOUR_CODES(words[4 + q], 0, 255);
#endif
        const float4 w0 = (low - low_zero) * low_scale, w1 = (high - high_zero) * high_scale;
#pragma unroll
        for (int i = 0; i < INPUTS; ++i) {
          __global const float* from_x = x + x_offset + (min((long)i, sizes.inputs - 1) * groups + group) * 32 + 4 * q;
          sums[r * INPUTS + i] += four_products(w0, from_x) + four_products(w1, from_x + 16);
        }
      }
    }
  }
#pragma unroll
  for (int s = 0; s < OUTPUTS * INPUTS; ++s) {
    const float sum = group_sum(sums[s], scratch);
    const long i = s % INPUTS, j = unit * OUTPUTS + s / INPUTS;
    if (get_local_id(0) == 0 && i < sizes.inputs && j < rows)
      y[y_offset + i * rows + j] = sum + (sizes.has_bias ? bias[bias_offset + j] : 0.0f);
  }
}
