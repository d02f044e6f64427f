// Attention for CPUs:
//
//   s[i][j] = scale * sum over d of q[i][d] * k[j][d] + bias[i][j]      -inf where `causal` and j > i
//   y[i][c] = sum over j of p[i][j] * v[j][c] / sum over j of p[i][j],  p[i][j] = exp(s[i][j] - max over j of s[i][j])
//
// A row whose scores are all -inf gives zeros. Every work-item is a work-group of its own. It takes units of work (a
// head, a block of its rows) one after another. For each key_block keys it packs keys and values into panels. For each
// MR rows it then computes a panel of scores, makes weights of them, and adds the weighted values to the sums. The
// weights are relative to the greatest score that the row had so far. When a greater score comes, the sums are scaled
// down (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018). The item's own slice of `scratch`
// holds:
//
//   keys [ceil(key_block / NR)][depth][NR], values [ceil(columns / NR)][key_block][NR], weights [MR][key_block],
//   queries as floats [MR][ceil(depth / VW) * VW], sums [block][ceil(columns / NR) * NR], and for each row of the block
//   the greatest score and the total weight.
//
// block is a multiple of MR, and key_block of NR. Rows of q and y are contiguous. v has contiguous rows or contiguous
// columns. One of the strides of k is 1. q, k, v and y are stored as STORED, the bias as floats.
#include "attention/rows_cpu.h"

INLINE void store_row(__global STORED* y, __global const float* sums, int columns, float total) {
  const float share = total == 0.0f ? 0.0f : 1.0f / total;
  NO_UNROLL
  for (int column = 0; column < columns; column += VW)
    store_elements(ALIGNED_CONST(sums + column) * share, columns - column, y + column);
}

// The scratch of a work-item.
typedef struct {
  __global float *keys, *values, *weights, *sums, *greatest, *total, *queries;
  int width, length;  // Width of a row of sums, and length of a row of weights.
} Scratch;

INLINE Scratch scratch_of(__global float* first, const AttentionParameters* p) {
  Scratch s;
  s.width = (p->columns + NR - 1) / NR * NR;
  s.length = p->key_block;
  s.keys = first;
  s.values = s.keys + (long)s.length * p->depth;
  s.weights = s.values + (long)s.length * s.width;
  s.queries = s.weights + MR * s.length;
  s.sums = s.queries + MR * ((p->depth + VW - 1) / VW * VW);
  s.greatest = s.sums + (long)p->block * s.width;
  s.total = s.greatest + p->block;
  return s;
}

INLINE void begin_block(const Scratch* s, int rows) {
  NO_UNROLL
  for (int i = 0; i < rows * s->width; i += VW) ALIGNED(s->sums + i) = (floatv)(0.0f);
  NO_UNROLL
  for (int i = 0; i < rows; ++i) {
    s->greatest[i] = -INFINITY;
    s->total[i] = 0.0f;
  }
}

// Adds the values of the packed keys first … first + count - 1 to the sums of the rows begin … end - 1.
INLINE void add_keys(const Scratch* s, const AttentionParameters* p, __global const STORED* q, long q_row,
                     __global const float* bias, const HeadParameters* of_bias, int begin, int end, int first, int count,
                     float scale) {
  NO_UNROLL
  for (int row = begin; row < end; row += MR) {
    const int rows = min(MR, end - row);
    const int seen = p->causal ? min(count, row + rows - first) : count;
    if (seen <= 0) continue;
    score_rows(s->weights, s->length, q + row * q_row, q_row, rows, s->keys, seen, p->depth, scale, s->queries);
    float shrink[MR];
    NO_UNROLL
    for (int i = 0; i < MR; ++i) shrink[i] = 0.0f;
    NO_UNROLL
    for (int i = 0; i < rows; ++i) {
      float greatest = s->greatest[row + i - begin], total = s->total[row + i - begin];
      shrink[i] = weigh_row(s->weights + i * s->length, p->causal ? min(seen, row + i - first + 1) : seen, seen,
                            bias + (row + i) * of_bias->row + first * of_bias->column, of_bias->column, p->has_bias,
                            &greatest, &total);
      s->greatest[row + i - begin] = greatest;
      s->total[row + i - begin] = total;
    }
    add_values(s->sums + (long)(row - begin) * s->width, s->width, shrink, s->weights, s->length, rows, s->values, count,
               seen);
  }
}

CPU_KERNEL void attention_rows(__global const STORED* restrict q, const ulong q_offset,
                               __global const STORED* restrict k, const ulong k_offset,
                               __global const STORED* restrict v, const ulong v_offset,
                               __global const float* restrict bias, const ulong bias_offset,
                               __global STORED* restrict y, const ulong y_offset, __global float* restrict scratch,
                               const ulong scratch_offset, const float scale, const AttentionParameters p,
                               const HeadParameters of_q,
                               const HeadParameters of_k, const HeadParameters of_v, const HeadParameters of_bias,
                               const HeadParameters of_y) {
  const long item = get_global_id(0), items = get_global_size(0);
  const Scratch s = scratch_of(scratch + scratch_offset + item * p.slice, &p);
  const int blocks = (p.rows + p.block - 1) / p.block;
  const long units = p.heads * blocks;
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long head = unit / blocks;
    const int begin = (int)(unit % blocks) * p.block, end = min(p.rows, begin + p.block);
    const int keys_end = p.causal ? min(p.keys, end) : p.keys;
    __global const STORED* head_k = k + k_offset + head_start(&of_k, &p, head);
    __global const STORED* head_v = v + v_offset + head_start(&of_v, &p, head);
    __global STORED* head_y = y + y_offset + head_start(&of_y, &p, head);
    begin_block(&s, p.block);
    NO_UNROLL
    for (int first = 0; first < keys_end; first += s.length) {
      const int count = min(s.length, keys_end - first);
      pack_panels(s.keys, head_k + first * of_k.row, of_k.column, of_k.row, p.depth, count);
      pack_panels(s.values, head_v + first * of_v.row, of_v.row, of_v.column, count, p.columns);
      add_keys(&s, &p, q + q_offset + head_start(&of_q, &p, head), of_q.row,
               bias + bias_offset + head_start(&of_bias, &p, head), &of_bias, begin, end, first, count, scale);
    }
    NO_UNROLL
    for (int row = begin; row < end; ++row)
      store_row(head_y + row * of_y.row, s.sums + (long)(row - begin) * s.width, p.columns, s.total[row - begin]);
  }
}
