// Recurrent layers of few hidden units on GPUs; B rows, T steps, H hidden units. A work-group takes ROWS rows of the
// batch through the whole sequence and keeps the state in local memory. So a step costs barriers instead of launches.
// Formulas are in rnn/rnn_cell.h, flags in rnn/flags.h.
//
// A work-group has GROUP x PARTS items and takes GROUP units at a time. Item (l, p) sums part p of the depth for unit l
// and all rows, and puts its sums into local memory. Then it computes the cell of unit l in the rows p, p + PARTS, …
// Cutting the depth into parts lets PARTS times as many reads of weights run at the same time.
//
// Weights are stored as (depth, unit, gate). So the gates of a unit are read at once, and the gates of neighbouring
// items are neighbours.

#ifndef GROUP
#define GROUP 128
#endif
#ifndef PARTS
#define PARTS 4
#endif
#ifndef ROWS
#define ROWS 2
#endif
// Local memory holds 4 ROWS (2 MAX_HIDDEN + PARTS GATES GROUP) bytes forward, and
// 4 ROWS (GATES MAX_HIDDEN + PARTS GROUP) bytes backward.
#ifndef MAX_HIDDEN
#define MAX_HIDDEN 256
#endif

#include "rnn/rnn_unit.h"

// Reads the gates of a unit from the address space `space`.
#if GATES == 4
#define LOAD_GATES(w, space, p) vstore4(*(space const float4*)(p), 0, w);
#else
#define LOAD_GATES(w, space, p) \
  for (int g_ = 0; g_ < GATES; ++g_) w[g_] = (p)[g_];
#endif

// The beginning of a part of the depth, which is a multiple of four.
INLINE int part_begin(const int part, const int hidden) {
  return min(hidden, part * ((hidden + 4 * PARTS - 1) / (4 * PARTS) * 4));
}

// Adds the next unit to v of all rows. The unit's state in row r is `state_of_row`.
#define MULTIPLY_UNIT(state_of_row)                                                                       \
  {                                                                                                       \
    float w[GATES];                                                                                       \
    LOAD_GATES(w, __global, weight + from)                                                                \
    from += GATES * hidden;                                                                               \
    for (int r = 0; r < ROWS; ++r)                                                                        \
      for (int gate = 0; gate < GATES; ++gate) v[r][gate] = FMA(w[gate], state_of_row, v[r][gate]);       \
  }

// Computes a part's product of the state with the weights (H, H, GATES), for unit j and all rows.
INLINE void multiply_state(float v[ROWS][GATES], __local float (*state)[MAX_HIDDEN], __global const float* weight,
                           const int part, const int j, const int hidden) {
  for (int gate = 0; gate < GATES; ++gate)
    for (int r = 0; r < ROWS; ++r) v[r][gate] = 0.0f;
  const int end = part_begin(part + 1, hidden);
  int k = part_begin(part, hidden);
  uint from = (k * hidden + j) * GATES;  // An offset of 32 bits from `weight`, whose address is the same for all items.
  for (; k + 4 <= end; k += 4) {
    float four[ROWS][4];
    for (int r = 0; r < ROWS; ++r) vstore4(*(__local const float4*)(state[r] + k), 0, four[r]);
#pragma unroll
    for (int u = 0; u < 4; ++u) MULTIPLY_UNIT(four[r][u])
  }
  for (; k < end; ++k) MULTIPLY_UNIT(state[r][k])
}

// Computes a part's product of the gates' gradients with the weights (H, H, GATES), for unit j and all rows.
INLINE void multiply_gradients(float sums[ROWS], __local float (*dv)[GATES * MAX_HIDDEN],
                               __global const float* weight, const int part, const int j, const int hidden) {
  for (int r = 0; r < ROWS; ++r) sums[r] = 0.0f;
  const int end = part_begin(part + 1, hidden), begin = part_begin(part, hidden);
  uint from = (begin * hidden + j) * GATES;  // An offset of 32 bits from `weight`, whose address is the same for all
                                             // items.
#pragma unroll 4
  for (int k = begin; k < end; ++k) {
    float w[GATES];
    LOAD_GATES(w, __global, weight + from)
    from += GATES * hidden;
    for (int r = 0; r < ROWS; ++r) {
      float d[GATES];
      LOAD_GATES(d, __local, dv[r] + k * GATES)
      for (int gate = 0; gate < GATES; ++gate) sums[r] = FMA(w[gate], d[gate], sums[r]);
    }
  }
}

// The buffers of the forward pass, from their first elements on.
typedef struct {
  __global const float* bias;
  __global float *gates, *states, *cells;
  __global const long* lengths;
  int batch, hidden, flags;
  long cell_slot;
} Layer;

// Computes the cell of unit j of row b at step t, and returns the state after it. v holds the sums of the parts.
INLINE float cell_of_row(const Layer* l, float v[GATES], const float before, const int t, const int b, const int j) {
  const int hidden = l->hidden;
  const int slot_before = l->flags & REVERSE ? t + 1 : t, slot_after = l->flags & REVERSE ? t : t + 1;
  const long at = (long)b * hidden + j;
  const bool over = (l->flags & WITH_LENGTHS) && t >= l->lengths[b];
  __global float* row = l->gates + ROW_AT(t, l->batch, b, SAVED * hidden) + j;
  float u[GATES];
  read_gates(u, row, hidden);
  for (int gate = 0; gate < GATES; ++gate)
    if (l->flags & WITH_BIAS) v[gate] += l->bias[gate * hidden + j];
  const float c = read_cell(l->cells + slot_before * l->cell_slot + at);
  CellStep s;
  cell_forward(&s, u, v, before, c);
  if (l->flags & KEEP) write_saved(row, &s, hidden);
  write_cell(l->cells + slot_after * l->cell_slot + at, over ? c : s.c);
  const float after = over ? before : s.h;
  l->states[slot_after * ((long)l->batch * hidden) + at] = after;
  return after;
}

// The axes of weight (H, H, GATES) are the unit that is read, the unit that is computed, and the gates of the computed
// unit. On entry, gates (T, B, SAVED H) holds W_ih x. states (T + 1, B, H). cells has the same shape, or (1, B, H) with
// cell_slot 0.
__kernel __attribute__((reqd_work_group_size(GROUP, PARTS, 1))) void rnn_persistent_rows_forward(
    __global const float* restrict weight, const ulong weight_offset, __global const float* restrict bias,
    const ulong bias_offset, FORWARD_PARAMETERS, const int steps, const int batch, const int hidden, const long cell_slot,
    const int flags) {
  __local float h[2][ROWS][MAX_HIDDEN] __attribute__((aligned(16)));
  __local float sums[PARTS][ROWS][GATES][GROUP];
  const Layer layer = {bias + bias_offset, gates + gates_offset, states + states_offset, cells + cells_offset,
                       lengths + lengths_offset, batch, hidden, flags, cell_slot};
  const int item = get_local_id(0), part = get_local_id(1);
  const int first = (int)get_group_id(0) * ROWS;
  weight += weight_offset;
  __global const float* initial = layer.states + (flags & REVERSE ? steps : 0) * ((long)batch * hidden);
  for (int j = item; j < hidden; j += GROUP)
    for (int r = part; r < ROWS; r += PARTS)
      h[0][r][j] = first + r < batch ? initial[(long)(first + r) * hidden + j] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int n = 0; n < steps; ++n)
    for (int base = 0; base < hidden; base += GROUP) {
      const int j = base + item;
      if (j < hidden) {
        float v[ROWS][GATES];
        multiply_state(v, h[n & 1], weight, part, j, hidden);
        for (int r = 0; r < ROWS; ++r)
          for (int gate = 0; gate < GATES; ++gate) sums[part][r][gate][item] = v[r][gate];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (j < hidden)
        for (int r = part; r < ROWS && first + r < batch; r += PARTS) {
          float v[GATES];
          for (int gate = 0; gate < GATES; ++gate) {
            v[gate] = 0.0f;
            for (int p = 0; p < PARTS; ++p) v[gate] += sums[p][r][gate][item];
          }
          h[(n + 1) & 1][r][j] =
              cell_of_row(&layer, v, h[n & 1][r][j], flags & REVERSE ? steps - 1 - n : n, first + r, j);
        }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// The buffers of the backward pass, from their first elements on.
typedef struct {
  __global const float *gates, *states;
  __global const STORED* dy;
  __global float *dh, *dc, *dinput, *drecurrent;
  __global const long* lengths;
  int batch, hidden, flags;
} Gradients;

// Computes the gradients of the cell of unit j of row b at step t. The gradients of its gates go to dv, too. For rows
// after the batch's last row, dv gets zeros.
INLINE void gradient_of_row(const Gradients* l, __local float* dv, const int t, const int b, const int j) {
  const int hidden = l->hidden, batch = l->batch;
  const long slot = (long)batch * hidden, at = (long)b * hidden + j;
  const bool over = b >= batch || ((l->flags & WITH_LENGTHS) && t >= l->lengths[b]);
  CellGradient d;
  if (!over) {
    __global const float* before = l->states + (l->flags & REVERSE ? t + 1 : t) * slot;
    __global const float* after = l->states + (l->flags & REVERSE ? t : t + 1) * slot;
    float saved[SAVED];
    read_saved(saved, l->gates + ROW_AT(t, batch, b, SAVED * hidden) + j, hidden);
    const float gradient = l->dh[at] + (l->flags & WITH_DY ? LOAD(STORED, l->dy, t * slot + at) : 0.0f);
    cell_backward(&d, saved, before[at], after[at], gradient, read_cell(l->dc + at));
    write_cell(l->dc + at, d.dc);
    l->dh[at] = d.dh;
  }
  share_gradient(dv, &d, over);
  if (b >= batch) return;
  const long to = ROW_AT(t, batch, b, GATES * hidden) + j;
  write_gradient(l->dinput + to, l->drecurrent + to, &d, over, hidden);
}

// The axes of weight (H, H, GATES) are the unit whose gates are read, the unit that is computed, and the gates of the
// read unit. dinput and drecurrent (T, B, GATES H) are the same buffer unless CELL is GRU. dh and dc (B, H) hold the
// gradients of the last states on entry, and of the first states on return.
__kernel __attribute__((reqd_work_group_size(GROUP, PARTS, 1))) void rnn_persistent_rows_backward(
    __global const float* restrict weight, const ulong weight_offset, BACKWARD_PARAMETERS) {
  __local float dv[ROWS][GATES * MAX_HIDDEN] __attribute__((aligned(16)));  // A row is [unit][gate].
  __local float sums[PARTS][ROWS][GROUP];
  const Gradients layer = {gates + gates_offset, states + states_offset, dy + dy_offset, dh + dh_offset,
                           dc + dc_offset, dinput + dinput_offset, drecurrent + drecurrent_offset,
                           lengths + lengths_offset, batch, hidden, flags};
  const int item = get_local_id(0), part = get_local_id(1);
  const int first = (int)get_group_id(0) * ROWS;
  weight += weight_offset;
  for (int n = steps - 1; n >= 0; --n) {
    for (int j = item; j < hidden; j += GROUP)
      for (int r = part; r < ROWS; r += PARTS)
        gradient_of_row(&layer, dv[r] + j * GATES, flags & REVERSE ? steps - 1 - n : n, first + r, j);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int base = 0; base < hidden; base += GROUP) {
      const int j = base + item;
      if (j < hidden) {
        float of_part[ROWS];
        multiply_gradients(of_part, dv, weight, part, j, hidden);
        for (int r = 0; r < ROWS; ++r) sums[part][r][item] = of_part[r];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (j < hidden)
        for (int r = part; r < ROWS && first + r < batch; r += PARTS) {
          float sum = 0.0f;
          for (int p = 0; p < PARTS; ++p) sum += sums[p][r][item];
          layer.dh[(long)(first + r) * hidden + j] += sum;
        }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
