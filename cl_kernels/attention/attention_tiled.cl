// Attention for GPUs, as in attention_cpu.cl, with the engine of product/gpu/engines/engine.h. A group computes BM rows
// of a head, for BN keys at a time. The sums of the scores and of the result stay in the registers of its
// work-items. The weights become an operand of the second product in local memory, a slice at a time. V has at most
// BN columns.
//
//   B_ALONG_K        1: the rows of k are contiguous, 0: its columns are
//   V_ALONG_KEYS     1: the columns of v are contiguous, 0: its rows are. Rows of q are always contiguous.
//   VEC              elements that are read at a time: 4 if everything is aligned to 4 elements, else 1
//   A_STORAGE, B_STORAGE   how q, and k and v are stored (product/gpu/storage.h). STORED is the same type, also of y.
#define A_ALONG_K 1
#ifndef B_ALONG_K
#define B_ALONG_K 1
#endif
#ifndef V_ALONG_KEYS
#define V_ALONG_KEYS 0
#endif
#ifndef VEC
#define VEC 1
#endif
#ifndef A_STORAGE
#define A_STORAGE STORAGE_F32
#define B_STORAGE STORAGE_F32
#endif
#include "product/gpu/matrix_operands.h"
#include "product/gpu/engines/multiply.h"
#include "attention/heads.h"
#include "common/element.h"

#define SLOTS (BN / ROW_RUN)
#if defined(STAGES) && STAGES == 1
#define BUFFERS 1
#else
#define BUFFERS 2
#endif

// Combines the numbers that all items have for each row: their maximum, or their sum. `of_runs` has one number for each
// run.
INLINE void rows_reduce(float of_runs[RUNS], __local float* rows, int greatest) {
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (int run = 0; run < RUNS; ++run) rows[(item_row() + run_row(run)) * SLOTS + run_slot(run)] = of_runs[run];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = tile_item(); row < BM; row += ITEMS) {
    float all = rows[row * SLOTS];
    for (int slot = 1; slot < SLOTS; ++slot)
      all = greatest ? fmax(all, rows[row * SLOTS + slot]) : all + rows[row * SLOTS + slot];
    rows[row * SLOTS] = all;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL
  for (int run = 0; run < RUNS; ++run) of_runs[run] = rows[(item_row() + run_row(run)) * SLOTS];
}

// The rows of a group, and what the group reads in addition to q, k and v.
typedef struct {
  __global const float* bias;
  long bias_row, bias_column;
  int first_row, rows, keys, causal, has_bias;
  float scale;
} Rows;

// The keys from the first to the last one that the bias lets a row of the group see, in `seen`. A group that has few
// rows, with a cache that is filled in part, then takes the time for the filled part.
INLINE void find_seen(__local int* seen, const Rows* r, int keys_end) {
  if (tile_item() == 0) {
    seen[0] = keys_end;
    seen[1] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int low = keys_end, high = 0;
  for (int row = 0; row < r->rows; ++row)
    for (int key = tile_item(); key < keys_end; key += ITEMS) {
      if (r->bias[row * r->bias_row + key * r->bias_column] == -INFINITY) continue;
      low = min(low, key);
      high = max(high, key + 1);
    }
  atomic_min(seen, low);
  atomic_max(seen + 1, high);
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Turns products into scores, and returns the greatest score of each run. `first` is the first key.
INLINE void scores_of(TileSums scores, float largest[RUNS], const Rows* r, int first) {
  UNROLL
  for (int run = 0; run < RUNS; ++run) {
    const int row = r->first_row + item_row() + run_row(run);
    UNROLL
    for (int i = 0; i < ROW_RUN; ++i) {
      const int key = first + item_column() + run_column(run, i);
      const int is_seen = key < r->keys && row < r->rows && (!r->causal || key <= row);
      float score = scores[run * ROW_RUN + i] * r->scale;
      if (r->has_bias && is_seen) score += r->bias[row * r->bias_row + key * r->bias_column];
      score = is_seen ? score : -INFINITY;
      scores[run * ROW_RUN + i] = score;
      largest[run] = fmax(largest[run], score);
    }
  }
}

// Turns scores into weights, and scales the earlier sums down to the new greatest score.
INLINE void weigh(TileSums scores, TileSums out, float greatest[RUNS], const float largest[RUNS], float total[RUNS]) {
  UNROLL
  for (int run = 0; run < RUNS; ++run) {
    const float base = largest[run] == -INFINITY ? 0.0f : largest[run];
    const float shrink = greatest[run] == -INFINITY ? 0.0f : exp(greatest[run] - base);
    greatest[run] = largest[run];
    total[run] *= shrink;
    UNROLL
    for (int i = 0; i < ROW_RUN; ++i) {
      const float weight = exp(scores[run * ROW_RUN + i] - base);
      scores[run * ROW_RUN + i] = weight;
      total[run] += weight;
      out[run * ROW_RUN + i] *= shrink;
    }
  }
}

// Begins to read the values of up to SLICE of the `count` keys.
INLINE MatrixReader values_begin(__global const STORED* v, const HeadParameters* of_v, int columns, int count) {
  return matrix_begin((__global const char*)v, V_ALONG_KEYS ? of_v->column : of_v->row, 0, columns, min(SLICE, count), BN,
                      V_ALONG_KEYS, B_STORAGE);
}

// out += weights · values for `count` keys. Each slice of the weights goes through local memory. The slice's values are
// read while the slice before it is multiplied.
INLINE void add_values(TileSums out, const TileSums weights, __global const STORED* v, const HeadParameters* of_v,
                       int columns, int count, __local StageWord* stages) {
  float values[LOADS(BN)];
  MatrixReader reader = values_begin(v, of_v, columns, count);
  matrix_load(&reader, values, BN, B_STORAGE);
  for (int slice = 0; slice < count; slice += SLICE) {
    __local StageWord* stage = stages + slice / SLICE % BUFFERS * STAGE;
    if (BUFFERS == 1 && slice > 0) barrier(CLK_LOCAL_MEM_FENCE);
    const int left = count - slice;
    if (left < SLICE) matrix_end(values, left, BN, V_ALONG_KEYS);
    matrix_keep(values, STAGE_B(stage), BN, V_ALONG_KEYS);
    UNROLL
    for (int run = 0; run < RUNS; ++run)
      UNROLL
      for (int i = 0; i < ROW_RUN; ++i) {
        const int key = item_column() + run_column(run, i) - slice;
        if (key >= 0 && key < SLICE)
          stage_element(STAGE_A(stage), BM, item_row() + run_row(run), key, weights[run * ROW_RUN + i]);
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left > SLICE) {
      matrix_move(&reader, SLICE);
      if (left < 2 * SLICE) reader = values_begin(v + (slice + SLICE) * of_v->row, of_v, columns, left - SLICE);
      matrix_load(&reader, values, BN, B_STORAGE);
    }
    slice_multiply(out, stage);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void store_rows(const TileSums out, const float total[RUNS], __global STORED* y, long y_row, const Rows* r,
                       int columns) {
  UNROLL
  for (int run = 0; run < RUNS; ++run) {
    const int row = r->first_row + item_row() + run_row(run);
    const float share = total[run] == 0.0f ? 0.0f : 1.0f / total[run];
    UNROLL
    for (int i = 0; i < ROW_RUN; ++i) {
      const int column = item_column() + run_column(run, i);
      if (row < r->rows && column < columns) STORE(STORED, y, row * y_row + column, out[run * ROW_RUN + i] * share);
    }
  }
}

TILE_KERNEL void attention_tiled(__global const STORED* restrict q, const ulong q_offset,
                                 __global const STORED* restrict k, const ulong k_offset,
                                 __global const STORED* restrict v, const ulong v_offset,
                                 __global const float* restrict bias, const ulong bias_offset,
                                 __global STORED* restrict y, const ulong y_offset, const float scale,
                                 const AttentionParameters p,
                                 const HeadParameters of_q, const HeadParameters of_k, const HeadParameters of_v,
                                 const HeadParameters of_bias, const HeadParameters of_y) {
  LOCAL_STAGES;
  __local float of_rows[BM * SLOTS];
  __local int seen[2];
  const int blocks = (p.rows + BM - 1) / BM;
  const long head = get_group_id(0) / blocks;
  // Causal rows that see many keys come first, because they take longest.
  const int row = (blocks - 1 - (int)(get_group_id(0) % blocks)) * BM;
  const Rows r = {bias + bias_offset + head_start(&of_bias, &p, head), of_bias.row, of_bias.column, row, p.rows, p.keys,
                  p.causal, p.has_bias, scale};
  __global const STORED* head_q = q + q_offset + head_start(&of_q, &p, head);
  __global const STORED* head_k = k + k_offset + head_start(&of_k, &p, head);
  __global const STORED* head_v = v + v_offset + head_start(&of_v, &p, head);
  TileSums out;
  float greatest[RUNS], total[RUNS];
  sums_clear(out);
  UNROLL
  for (int run = 0; run < RUNS; ++run) {
    greatest[run] = -INFINITY;
    total[run] = 0.0f;
  }
  int first_key = 0, keys_end = p.causal ? min(p.keys, row + BM) : p.keys;
  if (p.has_bias && p.rows <= BM) {
    find_seen(seen, &r, keys_end);
    first_key = seen[0] / BN * BN;
    keys_end = seen[1];
  }
  for (int first = first_key; first < keys_end; first += BN) {
    Operands operands;
    operands.a = matrix_begin((__global const char*)head_q, of_q.row, row, p.rows, p.depth, BM, 1, A_STORAGE);
    operands.b = matrix_begin((__global const char*)head_k, B_ALONG_K ? of_k.row : of_k.column, first, p.keys,
                              p.depth, BN, B_ALONG_K, B_STORAGE);
    TileSums scores;
    tile_multiply(scores, &operands, stages, p.depth);
    float largest[RUNS];
    UNROLL
    for (int run = 0; run < RUNS; ++run) largest[run] = greatest[run];
    scores_of(scores, largest, &r, first);
    rows_reduce(largest, of_rows, 1);
    weigh(scores, out, greatest, largest, total);
    add_values(out, scores, head_v + first * of_v.row, &of_v, p.columns, min(BN, p.keys - first), stages);
  }
  rows_reduce(total, of_rows, 0);
  store_rows(out, total, y + y_offset + head_start(&of_y, &p, head), of_y.row, &r, p.columns);
}
