// Scores, weights and weighted values of a few rows of queries, on CPUs.
#include "product/cpu/gemm_tile.h"
#include "product/cpu/column_panels.h"
#include "attention/heads.h"
#include "attention/weights.h"

// Rows of floats for score_rows: the rows themselves, or their copy at `copy` with rows FLOAT_STEP apart. The tile
// reads each element once for every NR keys. To widen f16 there took half of attention's time.
#ifdef STORED_IS_FLOAT
#define FLOAT_ROWS(copy, from, step, rows, count) (from)
#define FLOAT_STEP(step, count) (step)
#else
#define FLOAT_ROWS widened_rows
#define FLOAT_STEP(step, count) (((count) + VW - 1) / VW * VW)
INLINE __global const float* widened_rows(__global float* copy, __global const STORED* from, long step, int rows,
                                          int count) {
  NO_UNROLL
  for (int i = 0; i < rows; ++i)
    NO_UNROLL
    for (int k = 0; k < count; k += VW)
      ALIGNED(copy + i * FLOAT_STEP(step, count) + k) = load_elements(from + i * step + k, count - k);
  return copy;
}
#endif
OVER_LANES(greatest_lane, GREATER, floatv)

// Scores of MR rows and `keys` keys, rounded up to NR. Row i is scores[i * length]. `copy` is for FLOAT_ROWS.
INLINE void score_rows(__global float* scores, int length, __global const STORED* q, long q_row, int rows,
                       __global const float* panels, int keys, int depth, float scale, __global float* copy) {
  __global const float* queries = FLOAT_ROWS(copy, q, q_row, rows, depth);
  NO_UNROLL
  for (int key = 0; key < keys; key += NR) {
    floatv acc[MR * NV];
    tile_clear(acc);
    tile_multiply_rows(acc, queries, FLOAT_STEP(q_row, depth), rows, panels + (long)key * depth, depth);
#pragma unroll
    for (int i = 0; i < MR * NV; ++i) ALIGNED(scores + i / NV * length + key + i % NV * VW) = acc[i] * scale;
  }
}

// The first VW elements of a row of the bias. Only `left` elements are left in the row, and lanes after them are 0.
INLINE floatv load_bias(__global const float* bias, long step, int left) {
  if (step == 0) return (floatv)(*bias);
  return step == 1 && left >= VW ? UNALIGNED_CONST(bias) : load_some(bias, left, step);
}

// Replaces a row's scores by weights, and returns the factor for the row's earlier sums. Only the first `seen` keys
// count. The weights of other keys are 0, up to the end of a vector. `greatest` and `total` are those of earlier keys,
// and then also of these.
INLINE float weigh_row(__global float* row, int seen, int keys, __global const float* bias, long bias_step, int has_bias,
                       float* greatest, float* total) {
  floatv high = (floatv)(-INFINITY);
  NO_UNROLL
  for (int j = 0; j < keys; j += VW) {
    floatv score = ALIGNED(row + j);
    if (has_bias) score += load_bias(bias + j * bias_step, bias_step, keys - j);
    score = LANES + j < seen ? score : (floatv)(-INFINITY);
    ALIGNED(row + j) = score;
    high = GREATER(score, high);
  }
  const float before = *greatest, now = GREATER(greatest_lane(high), before);
  const float base = now == -INFINITY ? 0.0f : now;
  const float shrink = before == -INFINITY ? 0.0f : exp(before - base);
  *greatest = now;
  *total = *total * shrink + weigh(row, keys, base);
  return shrink;
}

// Adds the weighted values of `keys` keys to MR rows of sums. Panels of values are panel_keys * NR apart.
INLINE void add_values(__global float* sums, int width, const float shrink[MR], __global const float* weights, int length,
                       int rows, __global const float* values, int panel_keys, int keys) {
  NO_UNROLL
  for (int column = 0; column < width; column += NR) {
    floatv acc[MR * NV];
#pragma unroll
    for (int i = 0; i < MR * NV; ++i)
      acc[i] = ALIGNED(sums + i / NV * width + column + i % NV * VW) * shrink[i / NV];
    tile_multiply_rows(acc, weights, length, rows, values + (long)column * panel_keys, keys);
#pragma unroll
    for (int i = 0; i < MR * NV; ++i) ALIGNED(sums + i / NV * width + column + i % NV * VW) = acc[i];
  }
}
