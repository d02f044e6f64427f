// Moves the values of one unit of a row between memory and rnn/rnn_cell.h, for the recurrent kernels on GPUs. `gates`,
// `dinput` and `drecurrent` point to the unit's first gate. Its gates are `hidden` apart.
#include "common/element.h"
#include "rnn/sequence.h"
#include "rnn/rnn_scalar.h"
#include "common/unroll.h"

INLINE void read_gates(float u[GATES], __global const float* gates, const long hidden) {
  UNROLL
  for (int gate = 0; gate < GATES; ++gate) u[gate] = gates[gate * hidden];
}

INLINE void write_saved(__global float* gates, const CellStep* s, const long hidden) {
  UNROLL
  for (int k = 0; k < SAVED; ++k) gates[k * hidden] = s->saved[k];
}

INLINE void read_saved(float saved[SAVED], __global const float* gates, const long hidden) {
#if CELL == LSTM || CELL == GRU
  UNROLL
  for (int k = 0; k < SAVED; ++k) saved[k] = gates[k * hidden];
#endif
}

// The cell state of an LSTM. Other cells have no cell state, and `cell` is not read.
INLINE float read_cell(__global const float* cell) {
#if HAS_CELL_STATE
  return *cell;
#else
  return 0.0f;
#endif
}

INLINE void write_cell(__global float* cell, const float c) {
#if HAS_CELL_STATE
  *cell = c;
#endif
}

// Writes zeros if the row's sequence is over, without reading d. The zeros are not stored in d first, because Intel's
// compiler would then keep d in memory as an array.
#define UNLESS_OVER(value) (over ? 0.0f : (value))
INLINE void write_gradient(__global float* dinput, __global float* drecurrent, const CellGradient* d, const bool over,
                           const long hidden) {
  UNROLL
  for (int gate = 0; gate < GATES; ++gate) {
    dinput[gate * hidden] = UNLESS_OVER(d->du[gate]);
#if CELL == GRU
    drecurrent[gate * hidden] = UNLESS_OVER(d->dv[gate]);
#endif
  }
}

INLINE void share_gradient(__local float* dv, const CellGradient* d, const bool over) {
  UNROLL
  for (int gate = 0; gate < GATES; ++gate) dv[gate] = UNLESS_OVER(d->dv[gate]);
}
