// Scores of classes or targets, and the label, from the sums of a row.
//
//   y = transform(sums * scale + base)
//
// With MARKS_ABSENT a sum of -0 marks a class that no leaf of the row names. This class is never the label. If there is
// one sum for two classes (columns 1, classes 2), y has the scores of both classes. KIND says how:
//   0  y = sum                     targets, and classes with a sum each
//   1  y = {1 - sum, sum}          the second label if sum > 0.5
//   2  y = {-sum, sum}             the second label if sum > 0
//   3  y = {0, sum}                the second label if sum > 0.5
//   4  y = {0, sum}                the second label if sum > 0
//   5  y = {1 - sum, sum}          the second label if sum > 0
// TRANSFORM: 0 none, 1 logistic, 2 softmax, 3 softmax of the scores that are not 0, 4 probit.
#ifndef CRISOL_ESTIMATORS_SCORE_ROW_H
#define CRISOL_ESTIMATORS_SCORE_ROW_H
#include "estimators/logistic.h"
#ifndef TRANSFORM
#define TRANSFORM 0
#endif
#ifndef LABELS
#define LABELS 1
#endif
#ifndef MARKS_ABSENT
#define MARKS_ABSENT 1
#endif
#ifndef KIND
#define KIND 0
#endif

// The smallest number of columns that have a transform.
#if TRANSFORM == 4
#define LEAST_COLUMNS 1
#else
#define LEAST_COLUMNS 2
#endif
// A larger score means the second label.
#if KIND == 1 || KIND == 3
#define LEAST_SCORE 0.5f
#else
#define LEAST_SCORE 0.0f
#endif

// The inverse of the normal distribution, by Winitzki's approximation, which ONNX Runtime uses too:
//
//   v = 2 p - 1   l = ln(1 - v^2)   a = 2 / (0.147 pi) + l / 2   y = sign(v) sqrt(2) sqrt(sqrt(a^2 - l / 0.147) - a)
//
// Near p = 1/2 the last difference and 1 - v^2 would lose most digits, so both have other forms there.
static inline float probit(const float p) {
  const float v = 2.0f * p - 1.0f;
  const float l = fabs(v) < 0.5f ? log1p(-v * v) : log(4.0f * p * (1.0f - p));
  const float a = 2.0f / (M_PI_F * 0.147f) + 0.5f * l, c = l / 0.147f;
  const float b = sqrt(a * a - c);
  const float root = sqrt(a > 0.0f ? -c / (a + b) : b - a);
  return 1.41421356f * (v < 0.0f ? -root : root);
}

static inline void transform(__global float* y, const long n) {
#if TRANSFORM == 1
  for (long i = 0; i < n; ++i) y[i] = logistic(y[i]);
#elif TRANSFORM == 4
  for (long i = 0; i < n; ++i) y[i] = probit(y[i]);
#elif TRANSFORM != 0
  float largest = y[0];
  for (long i = 1; i < n; ++i) largest = fmax(largest, y[i]);
  float sum = 0.0f;
  for (long i = 0; i < n; ++i) {
    const int is_zero = TRANSFORM == 3 && fabs(y[i]) <= 1e-7f;
    y[i] = is_zero ? y[i] * exp(-largest) : exp(y[i] - largest);
    if (!is_zero) sum += y[i];
  }
  for (long i = 0; i < n; ++i) y[i] /= sum;
#endif
}

// `to` may be `from` if KIND is 0. `label` is not touched without LABELS.
static inline void score_row(__global const float* from, __global float* to, __global long* label,
                             __global const long* labels, __global const float* base, const int has_base,
                             const float scale, const long columns) {
#if KIND == 0
  long best = -1;
  float largest = 0.0f;
  for (long i = 0; i < columns; ++i) {
    const int is_named = !MARKS_ABSENT || has_base || as_int(from[i]) != as_int(-0.0f);
    const float score = from[i] * scale + (has_base ? base[i] : 0.0f);
    if (is_named && (best < 0 || score > largest)) {
      best = i;
      largest = score;
    }
    to[i] = score;
  }
  if (LABELS) *label = labels[best < 0 ? 0 : best];
  if (columns >= LEAST_COLUMNS) transform(to, columns);
#else
  const float score = from[0] * scale + (has_base ? base[0] : 0.0f);
  if (LABELS) *label = labels[score > LEAST_SCORE];
#if KIND == 3 || KIND == 4
  to[0] = 0.0f;
  to[1] = score;
  transform(to, 2);
#else
  to[0] = TRANSFORM == 1 ? logistic(-score) : TRANSFORM == 4 ? probit(score) : KIND != 2 ? 1.0f - score : -score;
  to[1] = TRANSFORM == 1 ? logistic(score) : TRANSFORM == 4 ? probit(score) : score;
#endif
#endif
}

#endif
