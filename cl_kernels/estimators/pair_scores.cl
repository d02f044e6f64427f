// Labels and probabilities from the scores of pairs of classes, as support vector machines have them.
//
// A row of `pairs` has a score s for each pair of classes i < j: (0, 1), (0, 2), …, (1, 2), …. Above 0 it votes for i,
// else for j. The label of a row is the class with the most votes. Among equals, the first class wins.
//
// With PROBABILITIES, r(i, j) = 1 / (1 + exp(a s + b)) is the probability of i if the class is i or j, between 1e-7 and
// 1 - 1e-7, and r(j, i) = 1 - r(i, j). The probabilities p of the classes make sum_i sum_j (r(j, i) p_i - r(i, j) p_j)^2
// small. p is found by the second method of Wu, Lin and Weng (JMLR 2004), with the stopping rule of libsvm, which ONNX
// Runtime uses too: at most 100 rounds, until the error is below 0.005 / classes. r replaces the scores in `pairs`.
#include "estimators/logistic.h"
#ifndef PROBABILITIES
#define PROBABILITIES 1
#endif
#pragma OPENCL FP_CONTRACT OFF

#if PROBABILITIES
static inline float probability(__global const float* pairs, const long classes, const long i, const long j) {
  const long low = min(i, j), high = max(i, j);
  const float r = pairs[low * (2 * classes - low - 1) / 2 + high - low - 1];
  return i < j ? r : 1.0f - r;
}

// The element (i, j) of the matrix of the squares.
static inline float square(__global const float* pairs, const long classes, const long i, const long j) {
  if (i != j) return -probability(pairs, classes, j, i) * probability(pairs, classes, i, j);
  float sum = 0.0f;
  for (long k = 0; k < classes; ++k) {
    if (k == i) continue;
    const float r = probability(pairs, classes, k, i);
    sum += r * r;
  }
  return sum;
}

// q = matrix · p. Returns p · q.
static inline float products(__global const float* pairs, const long classes, __global const float* p,
                             __global float* q) {
  float all = 0.0f;
  for (long i = 0; i < classes; ++i) {
    float sum = 0.0f;
    for (long j = 0; j < classes; ++j) sum += square(pairs, classes, i, j) * p[j];
    q[i] = sum;
    all += p[i] * sum;
  }
  return all;
}

static inline void couple(__global const float* pairs, const long classes, __global float* p, __global float* q) {
  const float least = 0.005f / (float)classes;
  for (long i = 0; i < classes; ++i) p[i] = 1.0f / (float)classes;
  for (int round = 0; round < 100; ++round) {
    float all = products(pairs, classes, p, q);
    float error = 0.0f;
    for (long i = 0; i < classes; ++i) error = fmax(error, fabs(q[i] - all));
    if (error < least) break;
    for (long i = 0; i < classes; ++i) {
      const float own = square(pairs, classes, i, i);
      const float step = (all - q[i]) / own;
      p[i] += step;
      all = (all + step * (step * own + 2.0f * q[i])) / (1.0f + step) / (1.0f + step);
      for (long j = 0; j < classes; ++j) {
        q[j] = (q[j] + step * square(pairs, classes, i, j)) / (1.0f + step);
        p[j] /= 1.0f + step;
      }
    }
  }
}
#endif

__kernel void pair_scores(__global float* restrict pairs, const ulong pairs_offset, __global const float* restrict a,
                          const ulong a_offset, __global const float* restrict b, const ulong b_offset,
                          __global const long* restrict labels, const ulong labels_offset,
                          __global float* restrict work, const ulong work_offset, __global float* restrict y,
                          const ulong y_offset, __global long* restrict label, const ulong label_offset,
                          const long rows, const long classes, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, rows);
  for (long row = first; row < end; ++row) {
    __global float* from = pairs + pairs_offset + row * (classes * (classes - 1) / 2);
    __global float* votes = work + work_offset + row * classes;
    for (long i = 0; i < classes; ++i) votes[i] = 0.0f;
    long pair = 0;
    for (long i = 0; i < classes; ++i)
      for (long j = i + 1; j < classes; ++j, ++pair) {
        votes[from[pair] > 0.0f ? i : j] += 1.0f;
#if PROBABILITIES
        const float r = 1.0f - logistic(from[pair] * a[a_offset + pair] + b[b_offset + pair]);
        from[pair] = fmin(fmax(r, 1e-7f), 1.0f - 1e-7f);
#endif
      }
    long best = 0;
    for (long i = 1; i < classes; ++i)
      if (votes[i] > votes[best]) best = i;
    label[label_offset + row] = labels[labels_offset + best];
#if PROBABILITIES
    couple(from, classes, y + y_offset + row * classes, votes);
#endif
  }
}
