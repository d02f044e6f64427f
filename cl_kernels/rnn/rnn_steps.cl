// The part of a recurrent step that is not a matrix product. There is one work-item for each row b of the batch and
// hidden unit j; B rows, H units, R outputs. Formulas are in rnn/rnn_cell.h, flags in rnn/flags.h. The host launches
// the matrix products between these kernels.
#include "rnn/rnn_unit.h"

// On entry, gates (B, SAVED H) holds W_ih x, and recurrent (B, GATES H) holds W_hh h. before and after (B, R) may be
// the same buffer, and so may cells_before and cells_after (B, H). With a projected output, h goes to `projected`, and
// the state after the step becomes 0, so that a product can be added to it. If the sequence is over, the state stays as
// it is.
__kernel void rnn_step_forward(__global float* restrict gates, const ulong gates_offset,
                               __global const float* restrict recurrent, const ulong recurrent_offset,
                               __global const float* restrict bias, const ulong bias_offset,
                               __global const float* before, const ulong before_offset, __global float* after,
                               const ulong after_offset, __global const float* cells_before,
                               const ulong cells_before_offset, __global float* cells_after,
                               const ulong cells_after_offset, __global float* restrict projected,
                               const ulong projected_offset, __global const long* restrict lengths,
                               const ulong lengths_offset, const long batch, const long hidden, const long outputs,
                               const long t, const int flags) {
  const long at = get_global_id(0);
  if (at >= batch * hidden) return;
  const long b = at / hidden;
  const long j = at - b * hidden;
  gates += gates_offset + b * SAVED * hidden + j;
  recurrent += recurrent_offset + b * GATES * hidden + j;
  bias += bias_offset + j;
  before += before_offset + b * outputs;
  after += after_offset + b * outputs;
  const bool over = (flags & WITH_LENGTHS) && t >= lengths[lengths_offset + b];

  float u[GATES], v[GATES];
  read_gates(u, gates, hidden);
  for (int gate = 0; gate < GATES; ++gate)
    v[gate] = recurrent[gate * hidden] + (flags & WITH_BIAS ? bias[gate * hidden] : 0.0f);
  const float c = read_cell(&cells_before[cells_before_offset + at]);
  const float h = j < outputs ? before[j] : 0.0f;
  CellStep s;
  cell_forward(&s, u, v, h, c);
  if (flags & KEEP) write_saved(gates, &s, hidden);
  write_cell(&cells_after[cells_after_offset + at], over ? c : s.c);
  float next = s.h;
  if (flags & PROJECTS) {
    projected[projected_offset + at] = over ? 0.0f : s.h;
    next = 0.0f;
  }
  if (j < outputs) after[j] = over ? h : next;
}

// The gradients of a step's gates. On entry, dh and dc (B, H) hold the gradient of the state after the step. On return,
// they hold the gradient of the state before the step. The term drecurrent W_hh is missing, and a matrix product adds
// it to dh. With a projection, the kernel reads dprojected, the gradient of the unprojected output, instead of dh, and
// dh does not change.
__kernel void rnn_step_backward(__global const float* restrict gates, const ulong gates_offset,
                                __global const float* restrict before, const ulong before_offset,
                                __global const float* restrict after, const ulong after_offset,
                                __global const STORED* restrict dy, const ulong dy_offset, __global float* restrict dh,
                                const ulong dh_offset, __global float* restrict dc, const ulong dc_offset,
                                __global const float* restrict dprojected, const ulong dprojected_offset,
                                __global float* restrict dinput, const ulong dinput_offset,
                                __global float* restrict drecurrent, const ulong drecurrent_offset,
                                __global const long* restrict lengths, const ulong lengths_offset, const long batch,
                                const long hidden, const long t, const int flags) {
  const long at = get_global_id(0);
  if (at >= batch * hidden) return;
  const long b = at / hidden;
  const long j = at - b * hidden;
  dinput += dinput_offset + b * GATES * hidden + j;
  drecurrent += drecurrent_offset + b * GATES * hidden + j;
  CellGradient d;
  if ((flags & WITH_LENGTHS) && t >= lengths[lengths_offset + b]) {
    write_gradient(dinput, drecurrent, &d, true, hidden);
    return;
  }
  float saved[SAVED];
  read_saved(saved, gates + gates_offset + b * SAVED * hidden + j, hidden);
  float gradient;
  if (flags & PROJECTS)
    gradient = dprojected[dprojected_offset + at];
  else
    gradient = dh[dh_offset + at] + (flags & WITH_DY ? LOAD(STORED, dy, dy_offset + at) : 0.0f);
  const float dcell = read_cell(&dc[dc_offset + at]);
  cell_backward(&d, saved, before[before_offset + at], after[after_offset + at], gradient, dcell);
  write_gradient(dinput, drecurrent, &d, false, hidden);
  write_cell(&dc[dc_offset + at], d.dc);
  if (!(flags & PROJECTS)) dh[dh_offset + at] = d.dh;
}

// The gradient of a projected output (B, R) is dy + dh, or 0 if the sequence is over. The kernel then sets dh to 0 for
// the step before.
__kernel void rnn_output_backward(__global const STORED* restrict dy, const ulong dy_offset, __global float* restrict dh,
                                  const ulong dh_offset, __global float* restrict doutput, const ulong doutput_offset,
                                  __global const long* restrict lengths, const ulong lengths_offset, const long batch,
                                  const long outputs, const long t, const int flags) {
  const long at = get_global_id(0);
  if (at >= batch * outputs) return;
  if ((flags & WITH_LENGTHS) && t >= lengths[lengths_offset + at / outputs]) {
    doutput[doutput_offset + at] = 0.0f;
    return;
  }
  doutput[doutput_offset + at] = dh[dh_offset + at] + (flags & WITH_DY ? LOAD(STORED, dy, dy_offset + at) : 0.0f);
  dh[dh_offset + at] = 0.0f;
}
