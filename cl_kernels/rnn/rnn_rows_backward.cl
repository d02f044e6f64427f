// Recurrent layers on CPUs, backward; B rows, T steps, H hidden units in blocks of VW. Formulas are in
// rnn/rnn_cell.h, flags in rnn/flags.h.
//
// Each step computes the gradients of the gates of all units, and then dh += drecurrent W_hh, gate by gate. W_hh is
// packed as [GATES][vectors of columns][H][VW]. PANEL neighbouring vectors are interleaved as [H][PANEL][VW]. Columns
// after the last one are zeros.
#include "rnn/rnn_rows.h"

#define PANEL 4
DEFINE_TILES(1)
DEFINE_TILES(PANEL)

// A unit of work is a vector of columns of a gate.
CPU_KERNEL void rnn_pack_backward(__global const STORED* restrict weight, const ulong weight_offset,
                                  __global float* restrict packed, const ulong packed_offset, const int hidden) {
  const int vectors = (hidden + VW - 1) / VW;
  const int in_panels = vectors / PANEL * PANEL;
  const int units = vectors * GATES;
  const int item = get_global_id(0);
  const int items = get_global_size(0);
  for (int unit = (int)((long)units * item / items); unit < (int)((long)units * (item + 1) / items); ++unit) {
    const int gate = unit / vectors;
    const int v = unit % vectors;
    const int lanes = hidden - v * VW;
    const int stride = v < in_panels ? PANEL * VW : VW;
    __global const STORED* in = weight + weight_offset + (long)gate * hidden * hidden + v * VW;
    __global float* to = packed + packed_offset + (long)gate * vectors * hidden * VW;
    to += v < in_panels ? (long)(v / PANEL) * PANEL * hidden * VW + v % PANEL * VW : (long)v * hidden * VW;
    NO_UNROLL
    for (int k = 0; k < hidden; ++k) ALIGNED(to + (long)k * stride) = load_elements(in + (long)k * hidden, lanes);
  }
}

// The gradients of the gates of one row and one block of units. dh and dc are as in rnn_steps.cl.
INLINE void unit_backward(__global const float* gates, __global const float* before, __global const float* after,
                          __global const STORED* dy, __global float* dh, __global float* dc, __global float* dinput,
                          __global float* drecurrent, int hidden, int lanes, bool over, int flags) {
  if (over) {
    for (int gate = 0; gate < GATES; ++gate) {
      store_lanes((floatv)(0.0f), dinput + gate * hidden, lanes);
#if CELL == GRU
      store_lanes((floatv)(0.0f), drecurrent + gate * hidden, lanes);
#endif
    }
    return;
  }
  floatv saved[SAVED];
#if CELL == LSTM || CELL == GRU
  for (int k = 0; k < SAVED; ++k) saved[k] = load_lanes(gates + k * hidden, lanes);
#endif
  floatv gradient = load_lanes(dh, lanes);
  if (flags & WITH_DY) gradient += load_elements(dy, lanes);
#if HAS_CELL_STATE
  const floatv dcell = load_lanes(dc, lanes);
#else
  const floatv dcell = (floatv)(0.0f);
#endif
  CellGradient d;
  cell_backward(&d, saved, load_lanes(before, lanes), load_lanes(after, lanes), gradient, dcell);
  for (int gate = 0; gate < GATES; ++gate) {
    store_lanes(d.du[gate], dinput + gate * hidden, lanes);
#if CELL == GRU
    store_lanes(d.dv[gate], drecurrent + gate * hidden, lanes);
#endif
  }
#if HAS_CELL_STATE
  store_lanes(d.dc, dc, lanes);
#endif
  store_lanes(d.dh, dh, lanes);
}

// dh += drecurrent W_hh for `count` rows and `v` vectors of columns.
#define DEFINE_ADD_PRODUCT(v)                                                                                    \
  INLINE void add_product_##v(__global float* dh, __global const float* drecurrent, __global const float* panel, \
                              int hidden, int count, int lanes) {                                                \
    floatv sums[TILE_ROWS * v];                                                                                  \
    NO_UNROLL                                                                                                    \
    for (int i = 0; i < count; ++i)                                                                              \
      for (int j = 0; j < v; ++j) sums[i * v + j] = load_lanes(dh + (long)i * hidden + j * VW, lanes - j * VW);  \
    tile_rows_##v(sums, count, drecurrent, (long)GATES* hidden, panel, hidden);                                  \
    NO_UNROLL                                                                                                    \
    for (int i = 0; i < count; ++i)                                                                              \
      for (int j = 0; j < v; ++j) store_lanes(sums[i * v + j], dh + (long)i * hidden + j * VW, lanes - j * VW);  \
  }
DEFINE_ADD_PRODUCT(1)
DEFINE_ADD_PRODUCT(4)

// dinput and drecurrent (T, B, GATES H) are the same buffer unless CELL is GRU; dh and dc (B, H).
CPU_KERNEL void rnn_rows_backward(__global const float* restrict packed, const ulong packed_offset, BACKWARD_PARAMETERS) {
  packed += packed_offset;
  gates += gates_offset;
  states += states_offset;
  dy += dy_offset;
  dh += dh_offset;
  dc += dc_offset;
  dinput += dinput_offset;
  drecurrent += drecurrent_offset;
  lengths += lengths_offset;
  const Rows rows = rows_of_item(batch, get_global_id(0), get_global_size(0));
  const long slot = (long)batch * hidden;
  const int tiles = (rows.end - rows.first + TILE_ROWS - 1) / TILE_ROWS;
  const int vectors = (hidden + VW - 1) / VW;
  for (int n = steps - 1; n >= 0 && tiles > 0; --n) {
    const int t = flags & REVERSE ? steps - 1 - n : n;
    __global const float* before = states + (flags & REVERSE ? t + 1 : t) * slot;
    __global const float* after = states + (flags & REVERSE ? t : t + 1) * slot;
    for (int b = rows.first; b < rows.end; ++b) {
      const bool over = (flags & WITH_LENGTHS) && t >= lengths[b];
      NO_UNROLL
      for (int unit = 0; unit < hidden; unit += VW) {
        const long at = (long)b * hidden + unit;
        const long row = ROW_AT(t, batch, b, GATES * hidden) + unit;
        unit_backward(gates + ROW_AT(t, batch, b, SAVED * hidden) + unit, before + at, after + at,
                      dy + ROW_AT(t, batch, b, hidden) + unit, dh + at, dc + at, dinput + row, drecurrent + row, hidden,
                      hidden - unit, over, flags);
      }
    }
    for (int gate = 0; gate < GATES; ++gate)
      for (int v = 0; v < vectors;) {
        const bool is_panel = v + PANEL <= vectors;
        __global const float* panel = packed + ((long)gate * vectors + v) * hidden * VW;
        for (int tile = 0; tile < tiles; ++tile) {
          const int first = rows.first + tile * TILE_ROWS;
          const int count = min(TILE_ROWS, rows.end - first);
          __global float* to = dh + (long)first * hidden + v * VW;
          __global const float* from = drecurrent + ROW_AT(t, batch, first, GATES * hidden) + gate * hidden;
          if (is_panel)
            add_product_4(to, from, panel, hidden, count, hidden - v * VW);
          else
            add_product_1(to, from, panel, hidden, count, hidden - v * VW);
        }
        v += is_panel ? PANEL : 1;
      }
  }
}
