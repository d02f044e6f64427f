// The common parts of the kernels that take whole sequences. Weights and dy are of STORED, and all other tensors are
// floats.

// Element 0 of row (t, b) in a buffer (T, B, columns). It has 64 bits, because buffers may hold more than 2^31
// elements.
#define ROW_AT(t, batch, b, columns) (((long)(t) * (batch) + (b)) * (columns))

// The parameters of the forward pass, beginning with the gates. The kernels' sizes come after them.
// lib/runtime/program/kernel_calls.h needs the names.
#define FORWARD_PARAMETERS                                                                            \
  __global float *gates, const ulong gates_offset, __global float *states, const ulong states_offset, \
      __global float *cells, const ulong cells_offset, __global const long *restrict lengths,         \
      const ulong lengths_offset
#define FORWARD_ARGUMENTS gates, gates_offset, states, states_offset, cells, cells_offset, lengths, lengths_offset

// All parameters of the backward pass after the weights.
#define BACKWARD_PARAMETERS                                                                                    \
  __global const float *restrict gates, const ulong gates_offset, __global const float *restrict states,       \
      const ulong states_offset, __global const STORED *restrict dy, const ulong dy_offset, __global float *dh, \
      const ulong dh_offset, __global float *dc, const ulong dc_offset, __global float *dinput,                \
      const ulong dinput_offset, __global float *drecurrent, const ulong drecurrent_offset,                    \
      __global const long *restrict lengths, const ulong lengths_offset, const int steps, const int batch,     \
      const int hidden, const int flags
#define BACKWARD_ARGUMENTS                                                                                        \
  gates, gates_offset, states, states_offset, dy, dy_offset, dh, dh_offset, dc, dc_offset, dinput, dinput_offset, \
      drecurrent, drecurrent_offset, lengths, lengths_offset, steps, batch, hidden, flags
