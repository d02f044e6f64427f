// The formulas of score_row.h for VW rows at once, for CPUs. The lanes of a vector are rows.
#ifndef CRISOL_ESTIMATORS_SCORE_ROWS_H
#define CRISOL_ESTIMATORS_SCORE_ROWS_H
#include "common/exp.h"
#include "common/unroll.h"
#include "common/vector.h"
#include "estimators/score_row.h"
#define MOST_COLUMNS 16

EXP_OF_NEGATIVE(exp_below, floatv, intv)

// 1 / (1 + exp(-v)), and 1 minus it, from one exponential.
INLINE floatv logistic_of(const floatv v, floatv* rest) {
  const floatv large = 1.0f / (1.0f + exp_below(-fabs(v)));
  *rest = v > 0.0f ? 1.0f - large : large;
  return v < 0.0f ? 1.0f - large : large;
}

// The lanes of one row after the other; the loop of the usual case is unrolled.
#define FOR_ROWS(DO)                       \
  if (count == VW) {                       \
    UNROLL                                 \
    for (int r = 0; r < VW; ++r) DO;       \
  } else {                                 \
    FEW_TIMES                              \
    for (int r = 0; r < count; ++r) DO;    \
  }

// A column of rows (count, columns).
INLINE floatv load_column(__global const float* rows, const int count, const int columns) {
  float lanes[VW];
  if (count < VW) vstorev((floatv)(0.0f), 0, lanes);
  FOR_ROWS(lanes[r] = rows[r * columns])
  return vloadv(0, lanes);
}

INLINE void store_column(const floatv v, __global float* rows, const int count, const int columns) {
  float lanes[VW];
  vstorev(v, 0, lanes);
  FOR_ROWS(rows[r * columns] = lanes[r])
}

// The columns of rows (count, columns), where 2 and 4 are the usual numbers.
INLINE void store_columns(const floatv* s, __global float* rows, const int count, const int columns) {
  if (count == VW && columns == 2) {
    vstore16((float16)(s[0].s0, s[1].s0, s[0].s1, s[1].s1, s[0].s2, s[1].s2, s[0].s3, s[1].s3, s[0].s4, s[1].s4,
                       s[0].s5, s[1].s5, s[0].s6, s[1].s6, s[0].s7, s[1].s7),
             0, rows);
  } else if (count == VW && columns == 4) {
    const float16 first = (float16)(s[0].lo, s[1].lo, s[2].lo, s[3].lo);
    const float16 second = (float16)(s[0].hi, s[1].hi, s[2].hi, s[3].hi);
    vstore16(first.s048c159d26ae37bf, 0, rows);
    vstore16(second.s048c159d26ae37bf, 1, rows);
  } else {
    for (int c = 0; c < columns; ++c) store_column(s[c], rows + c, count, columns);
  }
}

#if KIND == 0
INLINE void transform_columns(floatv* s, const int columns) {
#if TRANSFORM == 1
  floatv rest;
  for (int c = 0; c < columns; ++c) s[c] = logistic_of(s[c], &rest);
#elif TRANSFORM == 2 || TRANSFORM == 3
  floatv largest = s[0], sum = 0.0f;
  for (int c = 1; c < columns; ++c) largest = fmax(largest, s[c]);
#if TRANSFORM == 3
  const floatv of_zero = exp(-largest);
#endif
  for (int c = 0; c < columns; ++c) {
    const floatv y = exp_below(s[c] - largest);
#if TRANSFORM == 3
    const intv is_zero = fabs(s[c]) <= 1e-7f;
    sum += is_zero ? (floatv)(0.0f) : y;
    s[c] = is_zero ? s[c] * of_zero : y;
#else
    sum += y;
    s[c] = y;
#endif
  }
  const floatv factor = 1.0f / sum;
  for (int c = 0; c < columns; ++c) s[c] *= factor;
#endif
}

// s has the sums of each column, and named[c] is not 0 in the rows for which column c may be the label.
INLINE void score_rows(floatv* s, const intv* named, const int count, const int columns, __global float* y,
                       __global long* label, __global const long* labels) {
#if LABELS
  intv best = -1;
  floatv largest = 0.0f;
  for (int c = 0; c < columns; ++c) {
    intv is_better = (best < 0) | (s[c] > largest);
#if MARKS_ABSENT
    is_better &= named[c] != 0;
#endif
    best = is_better ? (intv)(c) : best;
    largest = is_better ? s[c] : largest;
  }
  int column[VW];  // In Oclgrind 21.10, max(best, 0) of a vector and a number reads behind the number.
  vstorev(best, 0, column);
  FOR_ROWS(label[r] = labels[max(column[r], 0)])
#endif
  if (columns >= LEAST_COLUMNS) transform_columns(s, columns);
  store_columns(s, y, count, columns);
#if TRANSFORM == 4
  for (int r = 0; r < count; ++r) transform(y + r * columns, columns);
#endif
}
#else
// KIND 1, 2 and 5 with TRANSFORM 0 or 1.
INLINE void score_rows(const floatv* s, const intv* named, const int count, const int columns, __global float* y,
                       __global long* label, __global const long* labels) {
  floatv both[2];
#if TRANSFORM == 1
  both[1] = logistic_of(s[0], &both[0]);
#else
  both[0] = KIND == 2 ? -s[0] : 1.0f - s[0];
  both[1] = s[0];
#endif
  store_columns(both, y, count, 2);
#if LABELS
  float score[VW];
  vstorev(s[0], 0, score);
  FOR_ROWS(label[r] = labels[score[r] > LEAST_SCORE ? 1 : 0])
#endif
}
#endif

#endif
