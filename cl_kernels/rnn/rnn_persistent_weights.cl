// Recurrent layers of few hidden units on GPUs; B rows, T steps, H hidden units. A work-group takes ROWS rows of the
// batch through the whole sequence, as in rnn_persistent_rows.cl. Its items hold all recurrent weights in registers
// during this time, so that a step reads no weights. Formulas are in rnn/rnn_cell.h, flags in rnn/flags.h.
//
// A step multiplies x (ROWS, INPUTS), in local memory, with W (INPUTS, OUTPUTS). Forward, x is the state, and an output
// is a gate of a unit. Backward, x is the gradients of the gates, and an output is the gradient of a unit's state.
// Gates are in the order [unit][gate]. Item (column, slice) holds DEPTH rows of W from row slice * DEPTH on, and 4
// columns from column 4 * column on. The sums of the slices are added in local memory.
//
// Then item i computes the cell of unit i % UNITS of row i / UNITS. The values that the cell needs for the next step
// are read before the product. The values that a unit passes on to itself stay in registers.
//
// UNITS is the number of hidden units, rounded up to a multiple of 4 SLICES. ROWS is at most GATES SLICES / 4.
//
// The sizes are single parameters. In a struct they cost 320 bytes of spills on dg2, for an LSTM of 64 units.
#ifndef UNITS
#define UNITS 64
#define SLICES 4
#define ROWS 4
#endif

#include "rnn/rnn_unit.h"

#define DEPTH (UNITS / SLICES)
#define ALL_GATES (GATES * UNITS)

// The weight from unit `from` to a gate of unit `to`; 0 if one of the units does not exist.
INLINE float weight_at(__global const STORED* weight, const int hidden, const int gate, const int to, const int from) {
  return to < hidden && from < hidden ? LOAD(STORED, weight, (gate * hidden + to) * hidden + from) : 0.0f;
}

#define FORWARD_WEIGHT(from, to) weight_at(weight + weight_offset, hidden, (to) % GATES, (to) / GATES, from)
#define BACKWARD_WEIGHT(from, to) weight_at(weight + weight_offset, hidden, (from) % GATES, (from) / GATES, to)

// Declares w and reads it: the weights of the item's column and slice.
#define READ_WEIGHTS(weight_between)                                                 \
  float w[DEPTH][4];                                                                 \
  UNROLL                                                                             \
  for (int d = 0; d < DEPTH; ++d) {                                                  \
    UNROLL                                                                           \
    for (int i = 0; i < 4; ++i) w[d][i] = weight_between(slice * DEPTH + d, 4 * column + i); \
  }

// The sums of an item. x points to the item's slice of row 0, and a row has `inputs` numbers. `sums` points to the
// item's columns in row 0 of the sums of its slice.
INLINE void multiply_slice(const float w[DEPTH][4], __local const float* x, const int inputs, __local float* sums,
                           const int outputs) {
  float4 v[ROWS];
  UNROLL
  for (int r = 0; r < ROWS; ++r) v[r] = (float4)(0.0f);
  UNROLL
  for (int d = 0; d < DEPTH; d += 4) {
    UNROLL
    for (int r = 0; r < ROWS; ++r) {
      const float4 four = *(__local const float4*)(x + r * inputs + d);
      v[r] = FMA(vload4(0, w[d]), (float4)(four.s0), v[r]);
      v[r] = FMA(vload4(0, w[d + 1]), (float4)(four.s1), v[r]);
      v[r] = FMA(vload4(0, w[d + 2]), (float4)(four.s2), v[r]);
      v[r] = FMA(vload4(0, w[d + 3]), (float4)(four.s3), v[r]);
    }
  }
  UNROLL
  for (int r = 0; r < ROWS; ++r) *(__local float4*)(sums + r * outputs) = v[r];
}

// The unit whose cell an item computes, and the unit's row in the group and in the batch.
typedef struct {
  int unit, row, b;
  bool in_group, exists;
} Own;

INLINE Own own_unit(const int width, const int batch, const int hidden) {
  Own own;
  own.unit = get_local_id(1) * width + get_local_id(0);
  own.row = 0;
  // Computes the row without a division, because Intel's CPU runtime vectorises a division of an item's number wrongly.
  UNROLL
  for (int r = 1; r < ROWS; ++r)
    if (own.unit >= UNITS) {
      own.unit -= UNITS;
      ++own.row;
    }
  own.b = (int)get_group_id(0) * ROWS + own.row;
  own.in_group = own.unit < UNITS;
  own.exists = own.unit < hidden && own.b < batch;
  return own;
}

// Computes v of an item's unit: the bias plus the sums of the slices.
INLINE void sum_gates(float v[GATES], const float of_bias[GATES], __local float (*sums)[ROWS][ALL_GATES],
                      const Own* own) {
  UNROLL
  for (int gate = 0; gate < GATES; ++gate) v[gate] = of_bias[gate];
  UNROLL
  for (int s = 0; s < SLICES; ++s)
    UNROLL
    for (int gate = 0; gate < GATES; ++gate) v[gate] += sums[s][own->row][own->unit * GATES + gate];
}

// weight (GATES H, H). On entry, gates (T, B, SAVED H) holds W_ih x. states (T + 1, B, H). cells has the same shape, or
// (1, B, H) with cell_slot 0.
__kernel __attribute__((reqd_work_group_size(ALL_GATES / 4, SLICES, 1))) void rnn_persistent_weights_forward(
    __global const STORED* restrict weight, const ulong weight_offset, __global const float* restrict bias,
    const ulong bias_offset, FORWARD_PARAMETERS, const int steps, const int batch, const int hidden, const long cell_slot,
    const int flags) {
  __local float h[ROWS][UNITS] __attribute__((aligned(16)));
  __local float sums[SLICES][ROWS][ALL_GATES] __attribute__((aligned(16)));
  const int column = get_local_id(0), slice = get_local_id(1);
  const Own own = own_unit(ALL_GATES / 4, batch, hidden);
  READ_WEIGHTS(FORWARD_WEIGHT)

  // From here on the pointers point to the item's unit at the current step, and move from step to step.
  const long slot = (long)batch * hidden;
  const long at = (long)own.b * hidden + own.unit;
  const int first = flags & REVERSE ? steps - 1 : 0, onward = flags & REVERSE ? -1 : 1;
  gates += gates_offset + ROW_AT(first, batch, own.b, SAVED * hidden) + own.unit;
  states += states_offset + (flags & REVERSE ? steps : 0) * slot + at;
  cells += cells_offset + (flags & REVERSE ? steps : 0) * cell_slot + at;
  float u[GATES], of_bias[GATES], state = 0.0f, c = 0.0f;
  UNROLL
  for (int gate = 0; gate < GATES; ++gate) of_bias[gate] = 0.0f;
  int length = steps;
  if (own.exists) {
    read_gates(u, gates, hidden);
    if (flags & WITH_BIAS) read_gates(of_bias, bias + bias_offset + own.unit, hidden);
    if (flags & WITH_LENGTHS) length = (int)min((long)steps, lengths[lengths_offset + own.b]);
    state = *states;
    c = read_cell(cells);
  }
  if (own.in_group) h[own.row][own.unit] = state;
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int t = first; 0 <= t && t < steps; t += onward) {
    multiply_slice(w, &h[0][slice * DEPTH], UNITS, &sums[slice][0][4 * column], ALL_GATES);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own.exists) {
      float v[GATES];
      sum_gates(v, of_bias, sums, &own);
      CellStep s;
      cell_forward(&s, u, v, state, c);
      if (flags & KEEP) write_saved(gates, &s, hidden);
      gates += onward * SAVED * slot;
      if (0 <= t + onward && t + onward < steps) read_gates(u, gates, hidden);
      if (t < length) {
        state = s.h;
        c = s.c;
      }
      h[own.row][own.unit] = state;
      states += onward * slot;
      *states = state;
      cells += onward * cell_slot;
      write_cell(cells, c);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Adds the sums of the slices to the gradient of a unit's state.
INLINE float add_slices(float of_state, __local float (*sums)[ROWS][UNITS], const Own* own) {
  UNROLL
  for (int s = 0; s < GATES * SLICES; ++s) of_state += sums[s][own->row][own->unit];
  return of_state;
}

// Reads the values that the item's cell needs at a step. The pointers point to this step, and `states` points to the
// next step. This is a macro, because a function would take the addresses of the variables. With a function, AMD's
// compiler used 258 registers for an LSTM of 96 units on gfx942 instead of 256. Then only half as many groups run at
// once.
#define READ_STEP                         \
  {                                       \
    read_saved(saved, gates, hidden);     \
    if (flags & WITH_DY) of_output = LOAD(STORED, dy, 0); \
    states += back * slot;                \
    before = *states;                     \
  }

// weight (GATES H, H). dinput and drecurrent (T, B, GATES H) are the same buffer unless CELL is GRU. dh and dc (B, H)
// hold the gradients of the last states on entry, and of the first states on return.
__kernel __attribute__((reqd_work_group_size(UNITS / 4, GATES * SLICES, 1))) void rnn_persistent_weights_backward(
    __global const STORED* restrict weight, const ulong weight_offset, BACKWARD_PARAMETERS) {
  __local float dv[ROWS][ALL_GATES] __attribute__((aligned(16)));
  __local float sums[GATES * SLICES][ROWS][UNITS] __attribute__((aligned(16)));
  const int column = get_local_id(0), slice = get_local_id(1);
  const Own own = own_unit(UNITS / 4, batch, hidden);
  READ_WEIGHTS(BACKWARD_WEIGHT)
  const long slot = (long)batch * hidden;
  const long at = (long)own.b * hidden + own.unit;
  const int last = flags & REVERSE ? 0 : steps - 1, back = flags & REVERSE ? 1 : -1;
  gates += gates_offset + ROW_AT(last, batch, own.b, SAVED * hidden) + own.unit;
  states += states_offset + (flags & REVERSE ? 0 : steps) * slot + at;
  dy += dy_offset + last * slot + at;
  dh += dh_offset + at;
  dc += dc_offset + at;
  const long to = ROW_AT(last, batch, own.b, GATES * hidden) + own.unit;
  dinput += dinput_offset + to;
  drecurrent += drecurrent_offset + to;
  float saved[SAVED], after = 0.0f, before = 0.0f, of_output = 0.0f, of_state = 0.0f, of_cell = 0.0f;
  int length = steps;
  if (own.exists) {
    if (flags & WITH_LENGTHS) length = (int)min((long)steps, lengths[lengths_offset + own.b]);
    of_state = *dh;
    of_cell = read_cell(dc);
    after = *states;
    READ_STEP
  }

  for (int t = last; 0 <= t && t < steps; t += back) {
    CellGradient d;
    const bool over = !own.exists || t >= length;
    if (!over) {
      cell_backward(&d, saved, before, after, of_state + of_output, of_cell);
      of_state = d.dh;
      of_cell = d.dc;
    }
    if (own.in_group) share_gradient(&dv[own.row][own.unit * GATES], &d, over);
    if (own.exists) {
      write_gradient(dinput, drecurrent, &d, over, hidden);
      dinput += back * GATES * slot;
      drecurrent += back * GATES * slot;
      gates += back * SAVED * slot;
      dy += back * slot;
      after = before;
      if (0 <= t + back && t + back < steps) READ_STEP
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply_slice(w, &dv[0][slice * DEPTH], ALL_GATES, &sums[slice][0][4 * column], UNITS);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own.exists) of_state = add_slices(of_state, sums, &own);
  }
  if (!own.exists) return;
  *dh = of_state;
  write_cell(dc, of_cell);
}
