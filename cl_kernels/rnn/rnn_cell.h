// One step of recurrent units, forward and backward. REAL is float for one unit, or a vector of floats for several
// units.
//
// Define before this header: CELL (RNN_TANH, RNN_RELU, LSTM or GRU), GATES, SAVED (how many values of each unit
// backward reads), REAL, INT (with the lanes of REAL), AS_REAL and AS_INT. The formulas are in crisol/ops/rnn.h; u is
// W_ih x + b_ih, v is W_hh h + b_hh.
#include "rnn/flags.h"

#define RNN_TANH 0
#define RNN_RELU 1
#define LSTM 2
#define GRU 3
#ifndef CELL
#define CELL LSTM
#define GATES 4
#define SAVED 4
#endif
#define HAS_CELL_STATE (CELL == LSTM)

// exp(x) - 1 for x <= 0, within 2 ulp. x = n log 2 + r, where n is a whole number. exp(r) - 1 is a polynomial (Cephes'
// expf). The sum 2^n (exp(r) - 1) + (2^n - 1) loses no digits near 0. NaN stays NaN.
INLINE REAL expm1_of_negative(REAL x) {
  x = x < -88.0f ? (REAL)(-88.0f) : x;
  // The magic number leaves n in the lowest bits of the sum.
  const REAL shifted = FMA(x, (REAL)(1.44269504f), (REAL)(12582912.0f));
  const REAL n = shifted - 12582912.0f;
  REAL r = FMA(n, (REAL)(-0.693359375f), x);
  r = FMA(n, (REAL)(2.12194440e-4f), r);
  REAL p = FMA(r, (REAL)(1.9875691500e-4f), (REAL)(1.3981999507e-3f));
  p = FMA(p, r, (REAL)(8.3334519073e-3f));
  p = FMA(p, r, (REAL)(4.1665795894e-2f));
  p = FMA(p, r, (REAL)(1.6666665459e-1f));
  p = FMA(p, r, (REAL)(5.0000001201e-1f));
  p = FMA(p, r * r, r);
  const REAL scale = AS_REAL((AS_INT(shifted) - 0x4b400000 + 127) << 23);
  return FMA(scale, p, scale - 1.0f);
}

INLINE REAL unit_sigmoid(REAL x) {
  const REAL e = expm1_of_negative(-fabs(x));
  const REAL above = x < 0.0f ? e + 1.0f : (REAL)(1.0f);
  return above / (e + 2.0f);
}

INLINE REAL unit_tanh(REAL x) {
  const REAL e = expm1_of_negative(-2.0f * fabs(x));
  const REAL size = -e / (e + 2.0f);
  return x < 0.0f ? -size : size;
}

typedef struct {
  REAL saved[SAVED];
  REAL h, c;
} CellStep;

// The results go through a pointer, because Oclgrind cannot inline functions that return large structures.
INLINE void cell_forward(CellStep* s, const REAL u[GATES], const REAL v[GATES], REAL h, REAL c) {
#if CELL == RNN_TANH
  s->h = unit_tanh(u[0] + v[0]);
  s->saved[0] = s->h;
  s->c = c;
#elif CELL == RNN_RELU
  // This is not fmax, because fmax would drop a NaN.
  const REAL sum = u[0] + v[0];
  s->h = sum < 0.0f ? (REAL)(0.0f) : sum;
  s->saved[0] = s->h;
  s->c = c;
#elif CELL == LSTM
  const REAL i = unit_sigmoid(u[0] + v[0]);
  const REAL f = unit_sigmoid(u[1] + v[1]);
  const REAL g = unit_tanh(u[2] + v[2]);
  const REAL o = unit_sigmoid(u[3] + v[3]);
  s->c = FMA(f, c, i * g);
  s->h = o * unit_tanh(s->c);
  s->saved[0] = i;
  s->saved[1] = f;
  s->saved[2] = g;
  s->saved[3] = o;
#else
  const REAL r = unit_sigmoid(u[0] + v[0]);
  const REAL z = unit_sigmoid(u[1] + v[1]);
  const REAL n = unit_tanh(FMA(r, v[2], u[2]));
  s->h = FMA(z, h - n, n);
  s->c = c;
  s->saved[0] = r;
  s->saved[1] = z;
  s->saved[2] = n;
  s->saved[3] = v[2];
#endif
}

// The gradients of u, of v and of the cell state before the step. For h before the step, it has the part of the
// gradient that does not go through the weights.
typedef struct {
  REAL du[GATES], dv[GATES];
  REAL dh, dc;
} CellGradient;

// `saved` is not read for RNN_TANH and RNN_RELU. `before` and `after` are the cell state of an LSTM, and h of the other
// cells. du and dv are assigned one by one, because Intel's compiler for GPUs leaves copied arrays in memory.
INLINE void cell_backward(CellGradient* d, const REAL saved[SAVED], REAL before, REAL after, REAL dh, REAL dc) {
  d->dh = (REAL)(0.0f);
  d->dc = dc;
#if CELL == RNN_TANH
  d->du[0] = d->dv[0] = dh * FMA(-after, after, (REAL)(1.0f));
#elif CELL == RNN_RELU
  d->du[0] = d->dv[0] = after > 0.0f ? dh : (REAL)(0.0f);
#elif CELL == LSTM
  const REAL i = saved[0], f = saved[1], g = saved[2], o = saved[3];
  const REAL t = unit_tanh(after);
  const REAL sum = FMA(dh * o, FMA(-t, t, (REAL)(1.0f)), dc);
  d->du[0] = d->dv[0] = sum * g * i * (1.0f - i);
  d->du[1] = d->dv[1] = sum * before * f * (1.0f - f);
  d->du[2] = d->dv[2] = sum * i * FMA(-g, g, (REAL)(1.0f));
  d->du[3] = d->dv[3] = dh * t * o * (1.0f - o);
  d->dc = sum * f;
#else
  const REAL r = saved[0], z = saved[1], n = saved[2], v = saved[3];
  const REAL dn = dh * (1.0f - z) * FMA(-n, n, (REAL)(1.0f));
  d->du[0] = d->dv[0] = dn * v * r * (1.0f - r);
  d->du[1] = d->dv[1] = dh * (before - n) * z * (1.0f - z);
  d->du[2] = dn;
  d->dv[2] = dn * r;
  d->dh = dh * z;
#endif
}
