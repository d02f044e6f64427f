// Recurrent layers of few hidden units on GPUs; B rows, T steps, H hidden units. A work-group takes ROWS rows of the
// batch through the whole sequence and keeps the state in local memory. So a step costs barriers instead of launches.
// Formulas are in rnn/rnn_cell.h, flags in rnn/flags.h.
//
// Work-item l owns units l, l + GROUP, … Weights are stored as (depth, unit, gate). So the gates of a unit are read at
// once, the gates of neighbouring items are neighbours, and a pointer steps along the depth.

#ifndef GROUP
#define GROUP 128
#endif
#ifndef ROWS
#define ROWS 2
#endif
#ifndef MAX_HIDDEN  // Local memory is 8 ROWS MAX_HIDDEN bytes forward and 4 GATES ROWS MAX_HIDDEN bytes backward.
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

// Adds the next unit to v of all rows. The unit's state in row r is `state_of_row`.
#define MULTIPLY_UNIT(state_of_row)                                                                       \
  {                                                                                                       \
    float w[GATES];                                                                                       \
    LOAD_GATES(w, __global, weight + from)                                                                \
    from += GATES * hidden;                                                                               \
    for (int r = 0; r < ROWS; ++r)                                                                        \
      for (int gate = 0; gate < GATES; ++gate) v[r][gate] = FMA(w[gate], state_of_row, v[r][gate]);       \
  }

// Computes v of unit j for all rows: the bias, and the product of the state with the weights (H, H, GATES).
INLINE void multiply_state(float v[ROWS][GATES], __local float (*state)[MAX_HIDDEN], __global const float* weight,
                           __global const float* bias, const int j, const int hidden, const int flags) {
  for (int gate = 0; gate < GATES; ++gate)
    for (int r = 0; r < ROWS; ++r) v[r][gate] = flags & WITH_BIAS ? bias[gate * hidden + j] : 0.0f;
  uint from = j * GATES;  // A 32-bit offset from an address that is the same for all items.
  int k = 0;
  for (; k + 4 <= hidden; k += 4) {
    float four[ROWS][4];
    for (int r = 0; r < ROWS; ++r) vstore4(*(__local const float4*)(state[r] + k), 0, four[r]);
#pragma unroll
    for (int u = 0; u < 4; ++u) MULTIPLY_UNIT(four[r][u])
  }
  for (; k < hidden; ++k) MULTIPLY_UNIT(state[r][k])
}

// Computes the product of the gates' gradients with the weights (H, H, GATES), for unit j and all rows.
INLINE void multiply_gradients(float sums[ROWS], __local float (*dv)[GATES * MAX_HIDDEN],
                               __global const float* weight, const int j, const int hidden) {
  for (int r = 0; r < ROWS; ++r) sums[r] = 0.0f;
  uint from = j * GATES;  // A 32-bit offset from an address that is the same for all items.
#pragma unroll 4
  for (int k = 0; k < hidden; ++k) {
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

// The axes of weight (H, H, GATES) are the unit that is read, the unit that is computed, and its gates. gates (T, B,
// SAVED H) holds the input's part on entry. states (T + 1, B, H). cells has the same shape, or (1, B, H) with cell_slot
// 0.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void rnn_persistent_rows_forward(
    __global const float* restrict weight, const ulong weight_offset, __global const float* restrict bias,
    const ulong bias_offset, __global float* gates, const ulong gates_offset, __global float* states,
    const ulong states_offset, __global float* cells, const ulong cells_offset, __global const long* restrict lengths,
    const ulong lengths_offset, const int steps, const int batch, const int hidden, const long cell_slot,
    const int flags) {
  __local float h[2][ROWS][MAX_HIDDEN] __attribute__((aligned(16)));
  weight += weight_offset;
  bias += bias_offset;
  gates += gates_offset;
  states += states_offset;
  cells += cells_offset;
  lengths += lengths_offset;
  const int item = get_local_id(0);
  const int first = (int)get_group_id(0) * ROWS;
  const long slot = (long)batch * hidden;
  const int first_slot = flags & REVERSE ? steps : 0;
  for (int j = item; j < hidden; j += GROUP)
    for (int r = 0; r < ROWS; ++r)
      h[0][r][j] = first + r < batch ? states[first_slot * slot + (long)(first + r) * hidden + j] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int n = 0; n < steps; ++n) {
    const int t = flags & REVERSE ? steps - 1 - n : n;
    const int slot_before = flags & REVERSE ? t + 1 : t;
    const int slot_after = flags & REVERSE ? t : t + 1;
    for (int j = item; j < hidden; j += GROUP) {
      float v[ROWS][GATES];
      multiply_state(v, h[n & 1], weight, bias, j, hidden, flags);
      for (int r = 0; r < ROWS; ++r) {
        const int b = first + r;
        if (b >= batch) continue;
        const long at = (long)b * hidden + j;
        const bool over = (flags & WITH_LENGTHS) && t >= lengths[b];
        __global float* row = gates + ROW_AT(t, batch, b, SAVED * hidden) + j;
        float u[GATES];
        read_gates(u, row, hidden);
        const float before = h[n & 1][r][j];
        const float c = read_cell(&cells[slot_before * cell_slot + at]);
        CellStep s;
        cell_forward(&s, u, v[r], before, c);
        if (flags & KEEP) write_saved(row, &s, hidden);
        write_cell(&cells[slot_after * cell_slot + at], over ? c : s.c);
        const float after = over ? before : s.h;
        h[(n + 1) & 1][r][j] = after;
        states[slot_after * slot + at] = after;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// The axes of weight (H, H, GATES) are the unit whose gates are read, the unit that is computed, and the gates. dinput
// and drecurrent (T, B, GATES H) are the same buffer unless CELL is GRU. dh and dc (B, H) hold the gradients of the
// last states on entry, and of the first states on return.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void rnn_persistent_rows_backward(
    __global const float* restrict weight, const ulong weight_offset, __global const float* restrict gates,
    const ulong gates_offset, __global const float* restrict states, const ulong states_offset,
    __global const float* restrict dy, const ulong dy_offset, __global float* dh, const ulong dh_offset,
    __global float* dc, const ulong dc_offset, __global float* dinput, const ulong dinput_offset,
    __global float* drecurrent, const ulong drecurrent_offset, __global const long* restrict lengths,
    const ulong lengths_offset, const int steps, const int batch, const int hidden, const int flags) {
  __local float dv[ROWS][GATES * MAX_HIDDEN] __attribute__((aligned(16)));  // A row is [unit][gate].
  weight += weight_offset;
  gates += gates_offset;
  states += states_offset;
  dy += dy_offset;
  dh += dh_offset;
  dc += dc_offset;
  dinput += dinput_offset;
  drecurrent += drecurrent_offset;
  lengths += lengths_offset;
  const int item = get_local_id(0);
  const int first = (int)get_group_id(0) * ROWS;
  const long slot = (long)batch * hidden;
  for (int n = steps - 1; n >= 0; --n) {
    const int t = flags & REVERSE ? steps - 1 - n : n;
    __global const float* before = states + (flags & REVERSE ? t + 1 : t) * slot;
    __global const float* after = states + (flags & REVERSE ? t : t + 1) * slot;
    for (int j = item; j < hidden; j += GROUP)
      for (int r = 0; r < ROWS; ++r) {
        const int b = first + r;
        const bool over = b >= batch || ((flags & WITH_LENGTHS) && t >= lengths[b]);
        CellGradient d;
        if (!over) {
          const long at = (long)b * hidden + j;
          float saved[SAVED];
          read_saved(saved, gates + ROW_AT(t, batch, b, SAVED * hidden) + j, hidden);
          const float gradient = dh[at] + (flags & WITH_DY ? dy[t * slot + at] : 0.0f);
          cell_backward(&d, saved, before[at], after[at], gradient, read_cell(&dc[at]));
          write_cell(&dc[at], d.dc);
          dh[at] = d.dh;
        }
        share_gradient(dv[r] + j * GATES, &d, over);
        if (b >= batch) continue;
        const long to = ROW_AT(t, batch, b, GATES * hidden) + j;
        write_gradient(dinput + to, drecurrent + to, &d, over, hidden);
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = item; j < hidden; j += GROUP) {
      float sums[ROWS];
      multiply_gradients(sums, dv, weight, j, hidden);
      for (int r = 0; r < ROWS; ++r)
        if (first + r < batch) dh[(long)(first + r) * hidden + j] += sums[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
