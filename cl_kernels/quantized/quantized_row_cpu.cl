// The product of one row with a quantised weight (quantized/codes.h), for x86 processors with AVX-512 VNNI. Its
// instruction vpdpbusd multiplies 64 bytes and adds each four products. A probe (quantized/bytes_probe.cl) finds it.
//
//   y[j] = sum over k of x[k] * weight[j][k] (+ bias[j])
//
// x has 32 * groups columns, and y has `rows` columns. A unit of work is one row of the weight. The kernel reads codes
// only, once.
//
// A row of codes consists of whole vectors of 64 bytes. The columns of a side, which are 16 bytes of a vector, become
// whole numbers of 24 bits times a power of two, the unit of the side. So an element of x is rounded to 2^-23 of the
// largest element of its side, which has 16 or 32 columns. A number is upper * 2^16 + middle * 2^8 + lower, of three
// bytes with a sign. Their sums of products with codes are exact. Elements of x below 2^-100 lose digits, because a
// unit is not below 2^-126.
//
// Each work-item first arranges x for this in its own slice of `scratch` (quantized/sum_rows.h). If x has an element
// that is infinite or NaN, the sums are computed column by column.
#define WORDS 16
#include "quantized/rows_cpu.h"
#include "quantized/sum_rows.h"

typedef char16 unaligned_char16 __attribute__((aligned(16)));
typedef uchar16 unaligned_uchar16 __attribute__((aligned(1)));

// The nearest whole numbers, for numbers below 2^23. Where rint() has no instruction, it takes twenty.
INLINE int16 nearest(float16 v) { return RESIZED(int16, v + as_float16((as_int16(v) & (int)0x80000000) | 0x3f000000)); }

// Arranges the columns of a side, of which `place` has the upper bytes of the first run. The bits of the largest
// absolute value are the result.
INLINE int arrange_side(__global int* place, __global const float* column) {
  float16 v[RUNS];
  int16 magnitudes = 0;
#pragma unroll
  for (int run = 0; run < RUNS; ++run) {
    v[run] = *(__global const unaligned_float16*)(column + run * 16);
    magnitudes = max(magnitudes, magnitudes_of(v[run]));
  }
  // Three bytes have the numbers up to 127 * (2^16 + 2^8 + 1), so the largest ones take the next power of two.
  const int largest = largest_of(magnitudes), exponent = max((largest + 0x10104) >> 23, 23);
#pragma unroll
  for (int run = 0; run < RUNS; ++run) {
    const int16 number = nearest(v[run] * as_float((276 - exponent) << 23));
    const int16 above = (number - (number << 24 >> 24)) >> 8, upper = (above - (above << 24 >> 24)) >> 8;
    *(__global unaligned_char16*)(place + 16 * run) = RESIZED(char16, upper);
    *(__global unaligned_char16*)(place + 16 * (MIDDLE + run)) = RESIZED(char16, above);
    *(__global unaligned_char16*)(place + 16 * (LOWER + run)) = RESIZED(char16, number);
  }
  *(__global float4*)(place + 16 * UNITS) = as_float((exponent - 22) << 23);
  return largest;
}

// The sums of the four bytes of each lane, over all runs.
INLINE int16 sums_of_bytes(__global const int16* bytes) {
  int16 sums = 0;
#pragma unroll
  for (int run = 0; run < RUNS; ++run) {
    const int16 v = bytes[run];
    sums += (v << 24 >> 24) + (v << 16 >> 24) + (v << 8 >> 24) + (v >> 24);
  }
  return sums;
}

// Arranges where the sums of a vector start. With HAS_ZEROS, adds the sums of the vector's columns to those of its
// blocks.
INLINE void arrange_starts(__global int16* x, __global float* columns, ulong vector) {
  const int16 uppers = sums_of_bytes(x), rest = (sums_of_bytes(x + MIDDLE) << 8) + sums_of_bytes(x + LOWER);
#ifdef HAS_ZEROS
  x[START] = x[START_OF_REST] = 0;
  const float16 v = RESIZED(float16, (uppers << 16) + rest) * as_float16(x[UNITS]);
  const float4 sides[SIDES] = {v.lo.lo, v.lo.hi, v.hi.lo, v.hi.hi};
#pragma unroll
  for (int i = 0; i < SIDES; ++i)
    columns[BLOCK_OF(SIDES * vector + i, 0)] += (sides[i].x + sides[i].y) + (sides[i].z + sides[i].w);
#else
  const int16 upper_start = -(uppers << (BITS - 1)), rest_start = -(rest << (BITS - 1));
#ifdef GFNI
  const int16 start = (upper_start << 16) + rest_start;
  x[START] = start >> 16;
  x[START_OF_REST] = start << 16;
#else
  x[START] = upper_start;
  x[START_OF_REST] = rest_start;
#endif
#endif
}

// Arranges so many vectors of x. The bits of the largest absolute value are the result.
INLINE int arrange(__global int16* to, __global const float* x, ulong vectors, long blocks) {
  to[0] = LANES * BLOCKS_OF_VECTOR / 16;
  to[1] = SHARED_NUMBER;
#ifdef GFNI
  to[2] = as_int16((ulong8)(HIGH_CODES_MATRIX));
#endif
  to += FIRST_VECTORS;
  __global float* const columns = (__global float*)(to + vectors * VECTORS);
  int largest = 0;
  NO_UNROLL
  for (ulong side = 0; side < SIDES * vectors; ++side)
    largest = max(largest,
                  arrange_side((__global int*)(to + side / SIDES * VECTORS) + side % SIDES * 4, x + side * RUNS * 16));
#ifdef HAS_ZEROS
  NO_UNROLL
  for (long b = 0; b < blocks; ++b) columns[b] = 0.0f;
#endif
  NO_UNROLL
  for (ulong vector = 0; vector < vectors; ++vector) arrange_starts(to + vector * VECTORS, columns, vector);
  return largest;
}

// What the zero points subtract from the sum of a row. `columns` are the sums of the columns of each block.
INLINE float sum_of_zeros(__global const float* columns, __global const float* scales, __global const uchar* zeros,
                          long blocks) {
  float16 sums = 0.0f;
  float sum = 0.0f;
  long b = 0;
  NO_UNROLL
  for (; b + 16 <= blocks; b += 16)
    sums = FMA(UNALIGNED_CONST(columns + b) * UNALIGNED_CONST(scales + b),
               RESIZED(float16, *(__global const unaligned_uchar16*)(zeros + b)), sums);
  NO_UNROLL
  for (; b < blocks; ++b) sum = FMA(columns[b] * scales[b], (float)zeros[b], sum);
  return sum_of_lanes(sums) + sum;
}

CPU_KERNEL void quantized_row_cpu(ROW_PARAMETERS, const QuantizedParameters sizes) {
  ADD_OFFSETS;
  const long rows = sizes.rows, blocks = sizes.blocks, row_bytes = sizes.groups * GROUP_BYTES;
  const long item = get_global_id(0), items = get_global_size(0), vectors = row_bytes / 64;
  __global int16* const arranged = (__global int16*)(scratch + item * ARRANGED_INTS(BITS, vectors, blocks));
  const bool is_finite = arrange(arranged, x, vectors, blocks) < INFINITE;
  const long begin = rows * item / items, end = rows * (item + 1) / items, streams = (end - begin) / ROWS;
  NO_UNROLL
  for (long i = 0; i < streams + (end - begin) % ROWS; ++i) {
    // First ROWS streams of rows at once. Then the last rows, each ROWS times at once.
    const long row = begin + (i < streams ? i : i + (ROWS - 1) * streams), step = i < streams ? streams : 0;
    float16 sums[ROWS];
    if (is_finite)
      sum_rows(sums, codes + row * row_bytes, step * row_bytes, scales + row * blocks, 4 * step * blocks, arranged,
               vectors);
    NO_UNROLL
    for (int r = 0; r < ROWS; ++r) {
      const long at = row + r * step;
      __global const float* const row_scales = scales + at * blocks;
      float sum = is_finite ? sum_of_lanes(sums[r])
                            : plain_sum(x, codes + at * row_bytes, row_scales, zeros + at * blocks, sizes.groups * 32);
#ifdef HAS_ZEROS
      if (is_finite)
        sum -= sum_of_zeros((__global const float*)(arranged + FIRST_VECTORS + vectors * VECTORS), row_scales,
                            zeros + at * blocks, blocks);
#endif
      y[at] = sum + (sizes.has_bias ? bias[at] : 0.0f);
    }
  }
}
