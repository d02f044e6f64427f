// Attention for CPUs and few queries: each query by itself, without packed keys.
//
//   s[j] = scale * sum over d of q[d] * k[j][d] + bias[j]      -inf where `causal` and j > the query's row
//   y[c] = sum over j of p[j] * v[j][c] / sum over j of p[j],  p[j] = exp(s[j] - max over j of s[j])
//
// A query whose scores are all -inf gives zeros. A work-item takes queries one after another. It reads the keys from the
// first to the last one that the bias allows. So a step with a cache that is filled in part takes the time for the
// filled part. The item's own slice of `scratch` has a score for each key. Rows of q, k, v and y are contiguous. These
// are stored as STORED, the bias as floats.
#include "attention/heads.h"
#include "attention/weights.h"

INLINE float product_of_rows(__global const STORED* a, __global const STORED* b, int count) {
  floatv sum = (floatv)(0.0f);
  NO_UNROLL
  for (int i = 0; i < count; i += VW)
    sum = FMA(load_elements(a + i, count - i), load_elements(b + i, count - i), sum);
  return sum_of_lanes(sum);
}

// Stores `share` times the sum of the weighted values. 4 vectors are summed at a time.
INLINE void store_sums(__global STORED* y, __global const float* weights, int keys, __global const STORED* v, long v_row,
                       int columns, float share) {
  NO_UNROLL
  for (int column = 0; column < columns; column += 4 * VW) {
    floatv acc[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[i] = (floatv)(0.0f);
    NO_UNROLL
    for (int j = 0; j < keys; ++j) {
      __global const STORED* from = v + j * v_row + column;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (column + i * VW < columns)
          acc[i] = FMA((floatv)(weights[j]), load_elements(from + i * VW, columns - column - i * VW), acc[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (column + i * VW < columns)
        store_elements(acc[i] * share, columns - column - i * VW, y + column + i * VW);
  }
}

CPU_KERNEL void attention_single(__global const STORED* restrict q, const ulong q_offset,
                                 __global const STORED* restrict k, const ulong k_offset,
                                 __global const STORED* restrict v, const ulong v_offset,
                                 __global const float* restrict bias, const ulong bias_offset,
                                 __global STORED* restrict y, const ulong y_offset, __global float* restrict scratch,
                                 const ulong scratch_offset, const float scale, const AttentionParameters p,
                                 const HeadParameters of_q, const HeadParameters of_k, const HeadParameters of_v,
                                 const HeadParameters of_bias, const HeadParameters of_y) {
  const long item = get_global_id(0), items = get_global_size(0);
  __global float* scores = scratch + scratch_offset + item * p.slice;
  const long units = p.heads * p.rows;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long head = unit / p.rows;
    const int row = (int)(unit % p.rows);
    __global const STORED* query = q + q_offset + head_start(&of_q, &p, head) + row * of_q.row;
    __global const STORED* head_k = k + k_offset + head_start(&of_k, &p, head);
    __global const STORED* head_v = v + v_offset + head_start(&of_v, &p, head);
    __global const float* row_bias = bias + bias_offset + head_start(&of_bias, &p, head) + row * of_bias.row;
    int first = 0, end = p.causal ? min(p.keys, row + 1) : p.keys;
    if (p.has_bias) {
      NO_UNROLL
      while (first < end && row_bias[first * of_bias.column] == -INFINITY) ++first;
      NO_UNROLL
      while (first < end && row_bias[(end - 1) * of_bias.column] == -INFINITY) --end;
    }
    float greatest = -INFINITY;
    NO_UNROLL
    for (int j = first; j < end; ++j) {
      float score = product_of_rows(query, head_k + j * of_k.row, p.depth) * scale;
      if (p.has_bias) score += row_bias[j * of_bias.column];
      scores[j - first] = score;
      greatest = GREATER(score, greatest);
    }
    FEW_TIMES
    for (int j = end - first; j % VW != 0; ++j) scores[j] = -INFINITY;
    const float total = weigh(scores, end - first, greatest == -INFINITY ? 0.0f : greatest);
    store_sums(y + y_offset + head_start(&of_y, &p, head) + row * of_y.row, scores, end - first,
               head_v + first * of_v.row, of_v.row, p.columns, total == 0.0f ? 0.0f : 1.0f / total);
  }
}
