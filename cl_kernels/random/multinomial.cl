// Draws categories from rows of weights (rows, n).
//
//   sum_chunks   sums[row, chunk] = sum of CHUNK weights; NaN if one of them is negative or not finite
//   row_totals   totals[row] = sum of its chunks; 0, and a note for the host, if nothing can be drawn from the row
//   draw         with replacement: samples[row, s] = the first category at which the cumulative sum exceeds u
//                totals[row]
//   race         without: keys[row, i] = w / (totals[row] e), e = -log(1 - u); the largest keys are the samples
//
// Sums over chunks keep their rounding errors. So even a category whose weight is below 2^-24 of the sum keeps its
// probability.
#include "random/philox.h"
#include "common/fault.h"
#include "common/vector.h"
#ifndef CHUNK
#define CHUNK 256L
#endif

__kernel void sum_chunks(__global const float* restrict weights, const ulong weights_offset, __global float* restrict sums,
                         const ulong sums_offset, const long rows, const long n) {
  const long id = get_global_id(0);
  const long chunks = (n + CHUNK - 1) / CHUNK;
  if (id >= rows * chunks) return;
  const long first = id % chunks * CHUNK;
  const long end = min(first + CHUNK, n);
  weights += weights_offset + id / chunks * n;
  floatv lanes = 0.0f;
  intv valid = -1;
  long i = first;
  for (; i + VW <= end; i += VW) {
    const floatv w = vloadv(0, weights + i);
    lanes += w;
    valid &= (w >= 0.0f) & (w < INFINITY);
  }
  float parts[VW];
  vstorev(lanes, 0, parts);
  int all_valid = all(valid);
  float sum = 0.0f;
  for (int lane = 0; lane < VW; ++lane) sum += parts[lane];
  for (; i < end; ++i) {
    sum += weights[i];
    all_valid = all_valid && weights[i] >= 0.0f && weights[i] < INFINITY;
  }
  sums[sums_offset + id] = all_valid ? sum : NAN;
}

// A sum of numbers that are not negative, and its rounding error.
typedef struct {
  float total, lost;
} CarriedSum;

static inline void carried_add(CarriedSum* sum, const float v) {
  const float next = sum->total + v;
  sum->lost += sum->total >= v ? (sum->total - next) + v : (v - next) + sum->total;
  sum->total = next;
}

__kernel void row_totals(__global const float* restrict sums, const ulong sums_offset, __global float* restrict totals,
                         const ulong totals_offset, __global long* fault, const ulong fault_offset, const long rows,
                         const long chunks, const int op) {
  const long row = get_global_id(0);
  if (row >= rows) return;
  CarriedSum sum = {0.0f, 0.0f};
  for (long chunk = 0; chunk < chunks; ++chunk) carried_add(&sum, sums[sums_offset + row * chunks + chunk]);
  const float total = sum.total + sum.lost;
  const int valid = total > 0.0f && total < INFINITY;
  if (!valid) note_wrong_index(fault + fault_offset, op, total != 0.0f, 0);
  totals[totals_offset + row] = valid ? total : 0.0f;
}

// The first category at which the cumulative sum exceeds `target`. If rounding leaves no such category, it is the last
// category with a weight above 0.
static inline long category_at(__global const float* weights, __global const float* sums, const long n,
                               const float target) {
  const long chunks = (n + CHUNK - 1) / CHUNK;
  CarriedSum before = {0.0f, 0.0f};
  CarriedSum reached = {0.0f, 0.0f};
  long found = 0;
  for (long chunk = 0; chunk < chunks; ++chunk) {
    const float sum = sums[chunk];
    if (sum > 0.0f) {
      found = chunk;
      before.total = reached.total;
      before.lost = reached.lost;
    }
    carried_add(&reached, sum);
    if ((reached.total - target) + reached.lost > 0.0f) break;
  }
  const float rest = (target - before.total) - before.lost;
  const long end = min((found + 1) * CHUNK, n);
  float sum = 0.0f;
  long category = -1;
  for (long i = found * CHUNK; i < end; ++i) {
    const float w = weights[i];
    if (!(w > 0.0f)) continue;
    category = i;
    sum += w;
    if (sum > rest) break;
  }
  return category;
}

// One work-item for four samples, which are elements of the draw.
__kernel void draw(__global const ulong* restrict state, const ulong state_offset, __global const float* restrict weights,
                   const ulong weights_offset, __global const float* restrict sums, const ulong sums_offset,
                   __global const float* restrict totals, const ulong totals_offset, __global long* restrict samples,
                   const ulong samples_offset, const long rows, const long n, const long count) {
  const long block = get_global_id(0);
  if (4 * block >= rows * count) return;
  uint words[4];
  vstore4(random_block(state + state_offset, block), 0, words);
  const long chunks = (n + CHUNK - 1) / CHUNK;
  const long end = min(4 * block + 4, rows * count);
  for (long i = 4 * block; i < end; ++i) {
    const long row = i / count;
    const float total = totals[totals_offset + row];
    const float u = (float)(words[i & 3] >> 8) * 5.9604644775390625e-8f;  // 2^-24
    samples[samples_offset + i] =
        total > 0.0f ? category_at(weights + weights_offset + row * n, sums + sums_offset + row * chunks, n, u * total)
                     : -1;
  }
}

// One work-item for four keys, which are elements of the draw. u is computed so that a small u keeps all 32 bits of its
// random word, because the largest keys come from small u.
__kernel void race(__global const ulong* restrict state, const ulong state_offset, __global const float* restrict weights,
                   const ulong weights_offset, __global const float* restrict totals, const ulong totals_offset,
                   __global float* restrict keys, const ulong keys_offset, const long rows, const long n) {
  const long block = get_global_id(0);
  if (4 * block >= rows * n) return;
  uint words[4];
  vstore4(random_block(state + state_offset, block), 0, words);
  const long end = min(4 * block + 4, rows * n);
  for (long i = 4 * block; i < end; ++i) {
    const float total = totals[totals_offset + i / n];
    const float u = fmin(((float)words[i & 3] + 0.5f) * 2.3283064365386963e-10f, 0.99999994f);  // 2^-32, 1 - 2^-24
    keys[keys_offset + i] = total > 0.0f ? weights[weights_offset + i] / total / -log1p(-u) : 0.0f;
  }
}
