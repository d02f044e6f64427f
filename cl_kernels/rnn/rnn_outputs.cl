// Sets the padding of sequences to 0: y[t][b][j] = states[t][b][j], or 0 where t >= lengths[b]. All tensors are (T, B,
// R). y is of STORED, the states are of SOURCE.
#include "common/element.h"

#ifndef SOURCE
#define SOURCE float
#endif

__kernel void rnn_outputs(__global const SOURCE* restrict states, const ulong states_offset,
                          __global const long* restrict lengths, const ulong lengths_offset,
                          __global STORED* restrict y, const ulong y_offset, const long count, const long batch,
                          const long outputs) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long row = at / outputs;
  const long t = row / batch;
  const bool is_over = t >= lengths[lengths_offset + row - t * batch];
  STORE(STORED, y, y_offset + at, is_over ? 0.0f : LOAD(SOURCE, states, states_offset + at));
}
