// Gradients of attention for CPUs. p are the weights, the softmax of the scores s (attention_cpu.cl):
//
//   dv[j][c] = sum over i of p[i][j] * dy[i][c]
//   ds[i][j] = p[i][j] * (sum over c of dy[i][c] * v[j][c] - sum over c of dy[i][c] * y[i][c])
//   dq[i][d] = scale * sum over j of ds[i][j] * k[j][d]      dk[j][d] = scale * sum over i of ds[i][j] * q[i][d]
//
// Every work-item is a work-group of its own. It takes heads one after another, and of a head `block` rows at a time.
// For each key_block keys it computes the weights and ds of the block again. With more than one key_block, a pass over
// all keys first finds the greatest score and the total weight of each row. Sums are floats in the item's own slice of
// `scratch`, and a head's results are stored once.
//
// Two of the products of a head look alike: q with k gives scores, and dy with v gives their gradients. So q and k are
// side 0, and dy and v are side 1. block is a multiple of MR, and key_block of NR. Rows of q, y, dy and of the results
// are contiguous. One of the strides of k is 1, and one of v.
#include "attention/rows_cpu.h"

typedef struct {
  __global const STORED *rows, *keys;  // q and k, or dy and v, of a head.
  long row, key, column;               // Strides of rows, of keys, and of elements of a key.
  int size, width;                     // The number of elements of a row, and the same rounded up to NR.
  __global float* columns;             // Panels of key_block keys: [key_block / NR][size][NR]
  __global float* panels;              // Panels of the block's rows: [width / NR][rows][NR]
  __global float* scores;              // [block][length]: weights, or gradients of scores.
  __global float* sums;                // [keys][width]: the gradient of the keys.
  __global float* copy;                // MR rows as floats: [MR][width]
} Side;

// What the two sides share.
typedef struct {
  __global float* keys;  // Panels of key_block keys: [width / NR][keys][NR]
  __global float* dq;    // [block][width]
  __global float *greatest, *total, *level;  // For each row of the block; level is the sum of dy * y.
  int length, several;   // Elements from row to row of scores, and whether there is more than one key_block.
} Common;

// Divides a slice of the scratch. Returns its end.
INLINE __global float* divide_scratch(__global float* at, Side* side, const AttentionParameters* p, int size) {
  side->size = size;
  side->width = (size + NR - 1) / NR * NR;
  side->columns = at;
  side->panels = side->columns + (long)p->key_block * size;
  side->scores = side->panels + (long)p->block * side->width;
  side->sums = side->scores + (long)p->block * (p->key_block + VW);
  side->copy = side->sums + (long)p->keys * side->width;
  return side->copy + MR * side->width;
}

INLINE void clear(__global float* x, long count) {
  NO_UNROLL
  for (long i = 0; i < count; i += VW) ALIGNED(x + i) = (floatv)(0.0f);
}

INLINE float dot_rows(__global const STORED* a, __global const STORED* b, int count) {
  floatv sum = (floatv)(0.0f);
  NO_UNROLL
  for (int i = 0; i < count; i += VW) sum += load_elements(a + i, count - i) * load_elements(b + i, count - i);
  return sum_of_lanes(sum);
}

// Prepares `rows` rows from row `begin` on. y is the first of them in the result of attention.
INLINE void begin_rows(const Common* c, const Side sides[2], int begin, int rows, int block, __global const STORED* y,
                       long y_row) {
  clear(c->dq, (long)block * sides[0].width);
  NO_UNROLL
  for (int i = 0; i < rows; ++i) {
    c->greatest[i] = -INFINITY;
    c->total[i] = 0.0f;
    c->level[i] = dot_rows(sides[1].rows + (begin + i) * sides[1].row, y + i * y_row, sides[1].size);
  }
  NO_UNROLL
  for (int x = 0; x < 2; ++x)
    pack_panels(sides[x].panels, sides[x].rows + begin * sides[x].row, sides[x].row, 1, rows, sides[x].size);
}

INLINE void pack_keys(const Common* c, const Side sides[2], int first, int count) {
  NO_UNROLL
  for (int x = 0; x < 2; ++x)
    pack_panels(sides[x].columns, sides[x].keys + first * sides[x].key, sides[x].column, sides[x].key, sides[x].size,
                count);
  pack_panels(c->keys, sides[0].keys + first * sides[0].key, sides[0].key, sides[0].column, count, sides[0].size);
}

// Makes weights and gradients of a row's scores, of which the first `seen` count. Those of all others are 0.
INLINE void finish_row(__global float* weights, __global float* slopes, int seen, int count, float share, float level) {
  NO_UNROLL
  for (int j = 0; j < count; j += VW) {
    const floatv weight = ALIGNED(weights + j) * share;
    const floatv slope = weight * (ALIGNED(slopes + j) - level);
    ALIGNED(weights + j) = LANES + j < seen ? weight : (floatv)(0.0f);
    ALIGNED(slopes + j) = LANES + j < seen ? slope : (floatv)(0.0f);
  }
}

// Takes the rows row … row + rows - 1 of a block, and the packed keys. Row i sees the first `seen + i` keys if `causal`,
// else the first `seen` ones. The first pass only looks for the greatest scores.
INLINE void take_rows(const Common* c, const Side sides[2], const AttentionParameters* p, int begin, int row, int rows,
                      __global const float* bias, const HeadParameters* of_bias, int seen, int count, float scale,
                      int pass) {
  const int most = max(0, min(count, p->causal ? seen + rows - 1 : seen));  // Keys that the last row sees.
  NO_UNROLL
  for (int x = 0; x <= pass; ++x)
    score_rows(sides[x].scores + row * c->length, c->length, sides[x].rows + (begin + row) * sides[x].row, sides[x].row,
               rows, sides[x].columns, most, sides[x].size, x == 0 ? scale : 1.0f, sides[x].copy);
  NO_UNROLL
  for (int i = 0; i < rows; ++i) {
    __global float* weights = sides[0].scores + (row + i) * c->length;
    const int of_row = max(0, min(count, p->causal ? seen + i : seen));
    float greatest = c->greatest[row + i], total = pass == 0 ? c->total[row + i] : 0.0f;
    weigh_row(weights, of_row, most, bias + i * of_bias->row, of_bias->column, p->has_bias, &greatest, &total);
    if (pass == 0) {
      c->greatest[row + i] = greatest;
      c->total[row + i] = total;
    } else {
      const float whole = c->several ? c->total[row + i] : total;
      finish_row(weights, sides[1].scores + (row + i) * c->length, of_row, count, whole == 0.0f ? 0.0f : 1.0f / whole,
                 c->level[row + i]);
    }
  }
  if (pass == 0 || most == 0) return;
  float kept[MR];
  NO_UNROLL
  for (int i = 0; i < MR; ++i) kept[i] = 1.0f;
  add_values(c->dq + (long)row * sides[0].width, sides[0].width, kept, sides[1].scores + row * c->length, c->length, rows,
             c->keys, count, most);
}

// Adds the products of columns of scores with the rows of a side to the sums of `count` keys. The columns of `scores`
// are keys. Key j is seen by the rows from `behind + j` on.
INLINE void add_to_keys(const Side* side, __global float* sums, __global const float* scores, int length, int rows,
                        int count, int behind) {
  NO_UNROLL
  for (int key = 0; key < count; key += MR) {
    const int first = max(0, behind + key), keys = min(MR, count - key);
    if (first >= rows) return;
    NO_UNROLL
    for (int column = 0; column < side->width; column += NR) {
      __global float* at = sums + (long)key * side->width + column;
      floatv acc[MR * NV];
#pragma unroll
      for (int i = 0; i < MR * NV; ++i) acc[i] = ALIGNED(at + min(i / NV, keys - 1) * side->width + i % NV * VW);
      tile_multiply(acc, scores + (long)first * length + key, length,
                    side->panels + (long)column * rows + (long)first * NR, NR, rows - first);
#pragma unroll
      for (int i = 0; i < MR * NV; ++i)
        if (i / NV < keys) ALIGNED(at + i / NV * side->width + i % NV * VW) = acc[i];
    }
  }
}

INLINE void store_rows(__global STORED* to, long row, __global const float* sums, int width, int rows, int size,
                       float scale) {
  NO_UNROLL
  for (int i = 0; i < rows; ++i)
    NO_UNROLL
    for (int column = 0; column < size; column += VW)
      store_elements(ALIGNED_CONST(sums + (long)i * width + column) * scale, size - column, to + i * row + column);
}

// Adds what the rows begin … begin + rows - 1 of a head give to all gradients. `bias` is that of row `begin`.
INLINE void take_block(const Common* c, const Side sides[2], const AttentionParameters* p, int begin, int rows,
                       __global const float* bias, const HeadParameters* of_bias, float scale) {
  NO_UNROLL
  for (int pass = c->several ? 0 : 1; pass < 2; ++pass)
    NO_UNROLL
    for (int first = 0; first < p->keys && !(p->causal && first >= begin + rows); first += p->key_block) {
      const int count = min(p->key_block, p->keys - first);
      if (c->several || begin == 0) pack_keys(c, sides, first, count);
      NO_UNROLL
      for (int row = 0; row < rows; row += MR)
        take_rows(c, sides, p, begin, row, min(MR, rows - row), bias + row * of_bias->row + first * of_bias->column,
                  of_bias, p->causal ? begin + row - first + 1 : count, count, scale, pass);
      NO_UNROLL
      for (int x = 0; x < (pass == 0 ? 0 : 2); ++x)
        add_to_keys(sides + x, sides[x].sums + (long)first * sides[x].width, sides[1 - x].scores, c->length, rows, count,
                    p->causal ? first - begin : -p->keys);
    }
}

CPU_KERNEL void attention_backward_rows(
    __global const STORED* restrict q, const ulong q_offset, __global const STORED* restrict k, const ulong k_offset,
    __global const STORED* restrict v, const ulong v_offset, __global const float* restrict bias,
    const ulong bias_offset, __global const STORED* restrict y, const ulong y_offset,
    __global const STORED* restrict dy, const ulong dy_offset, __global STORED* restrict dq, const ulong dq_offset,
    __global STORED* restrict dk, const ulong dk_offset, __global STORED* restrict dv, const ulong dv_offset,
    __global float* restrict scratch, const ulong scratch_offset, const float scale, const AttentionParameters p,
    const HeadParameters of_q, const HeadParameters of_k, const HeadParameters of_v, const HeadParameters of_bias,
    const HeadParameters of_y, const HeadParameters of_dy, const HeadParameters of_dq, const HeadParameters of_dk,
    const HeadParameters of_dv) {
  const long item = get_global_id(0), items = get_global_size(0);
  Side sides[2];
  Common c;
  c.keys = divide_scratch(divide_scratch(scratch + scratch_offset + item * p.slice, sides, &p, p.depth), sides + 1, &p,
                          p.columns);
  c.dq = c.keys + (long)p.key_block * sides[0].width;
  c.greatest = c.dq + (long)p.block * sides[0].width;
  c.total = c.greatest + p.block;
  c.level = c.total + p.block;
  c.length = p.key_block + VW;
  c.several = p.keys > p.key_block;
  sides[0].row = of_q.row, sides[0].key = of_k.row, sides[0].column = of_k.column;
  sides[1].row = of_dy.row, sides[1].key = of_v.row, sides[1].column = of_v.column;
  NO_UNROLL
  for (long head = p.heads * item / items; head < p.heads * (item + 1) / items; ++head) {
    sides[0].rows = q + q_offset + head_start(&of_q, &p, head);
    sides[0].keys = k + k_offset + head_start(&of_k, &p, head);
    sides[1].rows = dy + dy_offset + head_start(&of_dy, &p, head);
    sides[1].keys = v + v_offset + head_start(&of_v, &p, head);
    NO_UNROLL
    for (int x = 0; x < 2; ++x) clear(sides[x].sums, (long)p.keys * sides[x].width);
    NO_UNROLL
    for (int begin = 0; begin < p.rows; begin += p.block) {
      const int rows = min(p.block, p.rows - begin);
      begin_rows(&c, sides, begin, rows, p.block, y + y_offset + head_start(&of_y, &p, head) + begin * of_y.row,
                 of_y.row);
      take_block(&c, sides, &p, begin, rows, bias + bias_offset + head_start(&of_bias, &p, head) + begin * of_bias.row,
                 &of_bias, scale);
      store_rows(dq + dq_offset + head_start(&of_dq, &p, head) + begin * of_dq.row, of_dq.row, c.dq, sides[0].width,
                 rows, p.depth, scale);
    }
    store_rows(dk + dk_offset + head_start(&of_dk, &p, head), of_dk.row, sides[0].sums, sides[0].width, p.keys, p.depth,
               scale);
    store_rows(dv + dv_offset + head_start(&of_dv, &p, head), of_dv.row, sides[1].sums, sides[1].width, p.keys,
               p.columns, 1.0f);
  }
}
