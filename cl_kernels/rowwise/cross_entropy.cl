// Cross-entropy of contiguous rows of class scores (n, classes) of STORED, with one label for each row. With m = max x,
// s = sum exp(x - m) of a row, t its label, e the label smoothing:
//
//   loss = (1 - e) (log s - (x_t - m)) + e / classes sum_c (log s - (x_c - m))
//   dx_c = (exp(x_c - m - log s) - (1 - e) [c = t] - e / classes) scale dy
//
// m and log s are stored separately for backward, because their sum would lose digits if scores are large.
#include "rowwise/label_loss.h"

EACH_ROW_KERNEL void cross_entropy_rows(
    __global const STORED* restrict x, ulong x_offset, __global const LABEL* restrict labels, ulong labels_offset,
    __global float* restrict losses, ulong losses_offset, __global float* restrict moments, ulong moments_offset,
    __global long* fault, ulong fault_offset, long rows, long classes, long ignored, int op, float smoothing) {
  ROW_SCRATCH;
  EACH_ROW(row, rows) {
    const int live = live_rows(row, rows, 1);
    __global const STORED* from = x + x_offset + row * classes;
    rowv v[BLOCK];
    KEPT_CHUNKS(kept)

    rowv highest = -INFINITY;
#define READ(k, c, whole) v[k] = load_first(kept, from, c, classes, 1, -INFINITY, whole);
#define RAISE(count)                       \
  {                                        \
    const rowv top = block_max(v, count);  \
    highest = GREATER(top, highest);       \
  }
    EACH_CHUNK(classes, READ, RAISE)
    const rowf m = row_max(highest);

    RowSum sum = EMPTY_SUM, distance = EMPTY_SUM;
#define ADD(count) ADD_BLOCK(sum, v, count)
#define EXPONENTIATE(k, c, whole) v[k] = exp_below(load_again(kept, from, c, classes, 1, -INFINITY, whole) - m);
    EACH_CHUNK(classes, EXPONENTIATE, ADD)
    const rowf log_s = log(total_of(sum));
#define ADD_DISTANCE(count) ADD_BLOCK(distance, v, count)
#define DISTANCE(k, c, whole) v[k] = load_again(kept, from, c, classes, 1, m, whole) - m;
    rowf distances = 0.0f;
    if (smoothing > 0.0f) {
      EACH_CHUNK(classes, DISTANCE, ADD_DISTANCE)
      distances = total_of(distance);
    }

    ROW_NUMBERS(tops, m)
    ROW_NUMBERS(logs, log_s)
    ROW_NUMBERS(distances_of, distances)
    for (int i = 0; LANE_ID == 0 && i < live; ++i) {
      const long label = labels[labels_offset + row + i];
      float loss = 0.0f;
      if (label != ignored) {
        if (!is_class(label, classes)) note_wrong_index(fault + fault_offset, op, label, classes);
        const float score = is_class(label, classes) ? LOAD(STORED, from, i * classes + label) : NAN;
        loss = (1.0f - smoothing) * (logs[i] - (score - tops[i]));
        // Added only with smoothing: if a score is -inf, this term is infinity, and 0 times infinity is NaN.
        if (smoothing > 0.0f) loss += smoothing * (logs[i] - distances_of[i] / classes);
      }
      losses[losses_offset + row + i] = loss;
      moments[moments_offset + 2 * (row + i)] = tops[i];
      moments[moments_offset + 2 * (row + i) + 1] = logs[i];
    }
  }
}

// dy_step is 1 if dy has an element for each row, and 0 if all rows share one element.
EACH_ROW_KERNEL void cross_entropy_backward(
    __global const float* restrict dy, ulong dy_offset, __global const STORED* restrict x, ulong x_offset,
    __global const LABEL* restrict labels, ulong labels_offset, __global const float* restrict moments,
    ulong moments_offset, __global const float* restrict scale, ulong scale_offset, __global STORED* restrict dx,
    ulong dx_offset, long rows, long classes, long ignored, float smoothing, long dy_step) {
  EACH_ROW(row, rows) {
    __global const STORED* from = x + x_offset + row * classes;
    __global STORED* to = dx + dx_offset + row * classes;
    const int live = live_rows(row, rows, 1);
    float tops[ROWS_AT_ONCE], logs[ROWS_AT_ONCE], factors[ROWS_AT_ONCE], bases[ROWS_AT_ONCE];
    int used_rows[ROWS_AT_ONCE], at_labels[ROWS_AT_ONCE];
    for (int i = 0; i < ROWS_AT_ONCE; ++i) {
      const long at = row + min(i, live - 1);
      const long label = labels[labels_offset + at];
      tops[i] = moments[moments_offset + 2 * at];
      logs[i] = moments[moments_offset + 2 * at + 1];
      factors[i] = dy[dy_offset + at * dy_step] * scale[scale_offset];
      bases[i] = is_class(label, classes) ? smoothing / classes : NAN;
      used_rows[i] = label != ignored ? -1 : 0;
      at_labels[i] = is_class(label, classes) ? (int)label : -1;
    }
    const rowf m = rowf_of(tops), log_s = rowf_of(logs), factor = rowf_of(factors), base = rowf_of(bases);
    const rowi used = rowf_of(used_rows), at_label = rowf_of(at_labels);
#if ROW_LANES
#define LESS_LABEL(p, c) ((p) - ((rowi)((int)(c)) == at_label ? (rowv)(1.0f - smoothing) : (rowv)(0.0f)))
#else
#define LESS_LABEL(p, c) (p)
#endif
#define WRITE_GRADIENT(k, c, whole)                                                                \
  {                                                                                                \
    const rowv p = exp_below(load_chunk(from, c, classes, 1, 0.0f, whole) - m - log_s);            \
    store_chunk(used ? LESS_LABEL(p - base, c) * factor : (rowv)(0.0f), to, c, classes, 1, whole); \
  }
    EACH_CHUNK(classes, WRITE_GRADIENT, NOTHING)
#if !ROW_LANES
    // The work-item that wrote the label's chunk corrects the label's element.
    if (used && at_label >= 0 && at_label / VW % GROUP == LANE_ID) {
      const float p = exp(LOAD(STORED, from, at_label) - m - log_s);
      STORE(STORED, to, at_label, (p - base - (1.0f - smoothing)) * factor);
    }
#endif
  }
}
