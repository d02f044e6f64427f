// Products of a few rows with a quantised weight (quantized/codes.h), for CPUs:
//
//   y[i][j] = sum over k of x[i][k] * weight[j][k] (+ bias[j])        at most INPUTS rows i
//
// x has 32 * groups columns, and y has `rows` columns. A unit of work is one row of the weight. The kernel reads codes
// only, once.
//
// Conversions of codes limit the speed, so the kernel spends three instructions on WORDS codes (8 or 16). It takes
// codes as words of 32 bits, WORDS words at a time. Code p of a word stays where it is, with s = BITS * p bits below
// it. So as a whole number it is code * 2^s, and the kernel multiplies it with x[k] / 2^s. The code at the upper end of
// a word is shifted down. Elements of x below 2^-100 lose digits, because x[k] / 2^s is subnormal then. Zero points are
// subtracted from a sum: -zero * (sum of x) is where the sum starts.
//
// Each work-item first arranges x for this in its own slice of `scratch`. For each vector of words a row of x has
// PLANES vectors of elements, and then SUMS vectors of sums. Vector p has the elements for code p of each word.
//
// INPUTS is the number of rows of x that the kernel computes.
#include "quantized/rows_cpu.h"

#ifndef INPUTS
#define INPUTS 1
#endif

#define PLANES (32 / BITS)
// If the columns of a side have two scales, even and odd planes have their own sums.
#define SUMS ARRANGED_SUMS(BITS, GROUPS_OF_BLOCK)
#define VECTOR_FLOATS ARRANGED_FLOATS(WORDS, BITS, GROUPS_OF_BLOCK)
// One chain of additions would be slower than memory.
#define CHAINS (INPUTS <= 2 ? 2 : SUMS)

// Code p of each word, times 2^(BITS * p) for all but the last one.
INLINE floatv codes_of_plane(wordsv words, int p) {
  const uint code = (1u << BITS) - 1;
  return RESIZED(floatv, as_intv(p == PLANES - 1 ? words >> (32 - BITS) : words & code << BITS * p));
}

// Arranges a row of x with so many sides of vectors.
INLINE void arrange(__global float* to, __global const float* x, ulong sides, ulong vectors) {
  const float factor_of_sum =
#ifdef HAS_ZEROS
      -1.0f;
#else
      -ZERO_AT(x, 0);
#endif
  NO_UNROLL
  for (ulong i = 0; i < SIDES * vectors; ++i) {
    const ulong side = first_side(i / SIDES, sides) + i % SIDES;
    __global float* const place = to + i / SIDES * VECTOR_FLOATS + i % SIDES * 4;
    float4 sums[2] = {(float4)(0.0f), (float4)(0.0f)};
#pragma unroll
    for (int run = 0; run < RUNS; ++run) {
      float16 v = *(__global const unaligned_float16*)(x + (side * RUNS + run) * 16);
      if (side < i / SIDES * SIDES) v = (float16)(0.0f);  // The vector before this one has this side.
      const float4 columns[4] = {v.s048c, v.s159d, v.s26ae, v.s37bf};
#pragma unroll
      for (int byte = 0; byte < 4; ++byte) {
        const int p = byte * RUNS + run;
        sums[run % SUMS] += columns[byte];
        const float factor = p == PLANES - 1 ? 1.0f : 1.0f / (float)(1 << BITS * p);
        *(__global float4*)(place + p * WORDS) = columns[byte] * factor;
      }
    }
#pragma unroll
    for (int part = 0; part < SUMS; ++part)
      *(__global float4*)(place + (PLANES + part) * WORDS) = sums[part] * factor_of_sum;
  }
}

// Adds the products of a vector of words to the sums of each row of x. `columns` are the elements and sums of the first
// row of x, and those of the next row are `step` vectors behind them. `first` is the first side of the vector.
INLINE void add_products(floatv sums[INPUTS], wordsv words, __global const floatv* columns, ulong step, ulong first,
                         __global const float* scales, __global const uchar* zeros) {
  floatv part[INPUTS * CHAINS];
#pragma unroll
  for (int i = 0; i < INPUTS * CHAINS; ++i) {
    part[i] = (floatv)(0.0f);
    if (i % CHAINS < SUMS) {
      part[i] = columns[i / CHAINS * step + PLANES + i % CHAINS];
#ifdef HAS_ZEROS
      part[i] *= OF_SIDES(ZERO, first, i % CHAINS);
#endif
    }
  }
#pragma unroll
  for (int p = 0; p < PLANES; ++p) {
    const floatv plane = codes_of_plane(words, p);
#pragma unroll
    for (int i = 0; i < INPUTS; ++i)
      part[i * CHAINS + p % CHAINS] = FMA(plane, columns[i * step + p], part[i * CHAINS + p % CHAINS]);
  }
  const floatv scale = OF_SIDES(SCALE, first, 0);
#pragma unroll
  for (int i = 0; i < INPUTS; ++i) {
#if SUMS == 2
    sums[i] = FMA(OF_SIDES(SCALE, first, 1), part[2 * i + 1], sums[i]);
    sums[i] = FMA(scale, part[2 * i], sums[i]);
#elif CHAINS == 2
    sums[i] = FMA(scale, part[2 * i] + part[2 * i + 1], sums[i]);
#else
    sums[i] = FMA(scale, part[i], sums[i]);
#endif
  }
}

CPU_KERNEL void quantized_rows_cpu(ROW_PARAMETERS, const QuantizedParameters sizes) {
  ADD_OFFSETS;
  const long rows = sizes.rows, groups = sizes.groups, blocks = sizes.blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  const ulong sides = groups * 2 / RUNS, vectors = (sides + SIDES - 1) / SIDES;
  const ulong row_floats = vectors * VECTOR_FLOATS;
  __global float* const arranged = scratch + item * INPUTS * row_floats;
  NO_UNROLL
  for (int i = 0; i < INPUTS; ++i)
    arrange(arranged + i * row_floats, x + min((long)i, sizes.inputs - 1) * groups * 32, sides, vectors);
  NO_UNROLL
  for (long row = rows * item / items; row < rows * (item + 1) / items; ++row) {
    __global const uchar* const row_codes = codes + row * groups * GROUP_BYTES;
    __global const float* const row_scales = scales + row * blocks;
    __global const uchar* const row_zeros = zeros + row * blocks;
    floatv sums[INPUTS];
#pragma unroll
    for (int i = 0; i < INPUTS; ++i) sums[i] = (floatv)(0.0f);
    NO_UNROLL
    for (ulong vector = 0; vector < vectors; ++vector) {
      const ulong first = first_side(vector, sides);
      PREFETCH(row_codes + first * 16 + PREFETCH_BYTES);
      const wordsv words = *(__global const unaligned_words*)(row_codes + first * 16);
      add_products(sums, words, (__global const floatv*)(arranged + vector * VECTOR_FLOATS), row_floats / WORDS, first,
                   row_scales, row_zeros);
    }
#pragma unroll
    for (int i = 0; i < INPUTS; ++i) {
      if (i >= sizes.inputs) continue;
      float sum = sum_of_lanes(sums[i]);
      if (isnan(sum)) sum = plain_sum(x + i * groups * 32, row_codes, row_scales, row_zeros, groups * 32);
      y[i * rows + row] = sum + (sizes.has_bias ? bias[row] : 0.0f);
    }
  }
}
