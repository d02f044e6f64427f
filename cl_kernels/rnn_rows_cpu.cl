// Recurrent layers on CPUs: a work-item takes rows of the batch through the whole sequence alone, so that no step waits
// for another item; B rows, T steps, H hidden units in blocks of VW. Formulas: common/rnn_cell.h.
//
// Forward:  for each step, block of units and tile of rows: the products W_hh h of all gates in registers, then the
//           gates. W_hh is packed as [ceil(H / VW)][H][GATES][VW]: a block's weights stay in the caches for all rows.
//           W_ih x likewise, or it is in `gates` already.
// Backward: for each step, the gradients of the gates of all units, then dh += drecurrent W_hh, gate by gate. W_hh is
//           packed as [GATES][vectors of columns][H][VW], PANEL neighbouring vectors interleaved as [H][PANEL][VW].
// The lanes past H of packed weights are zero.
//
// A row whose sequence is over (t >= lengths[b]) hands its state on.
// flags: 1 lengths are given; 2 biases are given; 4 keep what backward reads; 16 dy is given; 32 in reverse; 64 multiply
// the input here.
#define WITH_LENGTHS 1
#define WITH_BIAS 2
#define KEEP 4
#define WITH_DY 16
#define REVERSE 32
#define WITH_INPUT 64

#include "common/vector.h"
#include "common/rnn_tile.h"
#include "common/transpose.h"

#define REAL floatv
#define INT intv
#define AS_REAL as_floatv
#define AS_INT as_intv
#include "common/rnn_cell.h"

#define PANEL 4

// GATES vectors for the forward; PANEL and 1 for the backward.
DEFINE_TILES(1)
DEFINE_TILES(4)
#if GATES == 3
DEFINE_TILES(3)
#endif
#define TILE_OF_GATES JOIN(tile_rows_, GATES)

// Vectors at a row's end, of which only `lanes` lanes exist.
INLINE floatv load_lanes(__global const float* p, int lanes) {
  if (lanes >= VW) return UNALIGNED_CONST(p);
  float part[VW];
  for (int lane = 0; lane < VW; ++lane) part[lane] = lane < lanes ? p[lane] : 0.0f;
  return vloadv(0, part);
}

INLINE void store_lanes(floatv value, __global float* p, int lanes) {
  if (lanes >= VW) {
    UNALIGNED(p) = value;
    return;
  }
  float part[VW];
  vstorev(value, 0, part);
  for (int lane = 0; lane < lanes; ++lane) p[lane] = part[lane];
}

// weight (GATES H, depth). A unit of work is a gate of a block of units.
CPU_KERNEL void rnn_pack_forward(__global const float* restrict weight, const ulong weight_offset,
                                 __global float* restrict packed, const ulong packed_offset, const int hidden, const int depth) {
  const int blocks = (hidden + VW - 1) / VW;
  const int units = blocks * GATES;
  const int item = get_global_id(0);
  const int items = get_global_size(0);
  for (int unit = (int)((long)units * item / items); unit < (int)((long)units * (item + 1) / items); ++unit) {
    const int block = unit / GATES;
    const int gate = unit % GATES;
    const int lanes = min(VW, hidden - block * VW);
    __global const float* in = weight + weight_offset + ((long)gate * hidden + block * VW) * depth;
    __global float* to = packed + packed_offset + ((long)block * depth * GATES + gate) * VW;
    int k = 0;
    if (lanes == VW) {
      for (; k + VW <= depth; k += VW) {
        floatv square[VW];
#pragma unroll
        for (int lane = 0; lane < VW; ++lane) square[lane] = UNALIGNED_CONST(in + (long)lane * depth + k);
        transpose_square(square);
#pragma unroll
        for (int lane = 0; lane < VW; ++lane) ALIGNED(to + (long)(k + lane) * GATES * VW) = square[lane];
      }
    }
    for (; k < depth; ++k)
      for (int lane = 0; lane < VW; ++lane)
        to[(long)k * GATES * VW + lane] = lane < lanes ? in[(long)lane * depth + k] : 0.0f;
  }
}

// A unit of work is a vector of columns of a gate.
CPU_KERNEL void rnn_pack_backward(__global const float* restrict weight, const ulong weight_offset,
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
    __global const float* in = weight + weight_offset + (long)gate * hidden * hidden + v * VW;
    __global float* to = packed + packed_offset + (long)gate * vectors * hidden * VW;
    to += v < in_panels ? (long)(v / PANEL) * PANEL * hidden * VW + v % PANEL * VW : (long)v * hidden * VW;
    for (int k = 0; k < hidden; ++k) ALIGNED(to + (long)k * stride) = load_lanes(in + (long)k * hidden, lanes);
  }
}

typedef struct {
  int first, end;
} Rows;

INLINE Rows rows_of_item(int batch) {
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  const Rows rows = {(int)(batch * item / items), (int)(batch * (item + 1) / items)};
  return rows;
}

// The gates of one row and block of units: products holds W_hh h + b_hh, inputs W_ih x + b_ih unless that is in gates.
// Pointers are those of the row and block.
INLINE void unit_forward(const floatv inputs[GATES], const floatv products[GATES], __global float* gates, __global const float* before,
                         __global float* after, __global const float* cells_before, __global float* cells_after,
                         int hidden, int lanes, bool over, int flags) {
  const floatv h = load_lanes(before, lanes);
#if HAS_CELL_STATE
  const floatv c = load_lanes(cells_before, lanes);
#else
  const floatv c = (floatv)(0.0f);
#endif
  if (over) {
    store_lanes(h, after, lanes);
#if HAS_CELL_STATE
    store_lanes(c, cells_after, lanes);
#endif
    return;
  }
  floatv u[GATES];
  for (int gate = 0; gate < GATES; ++gate)
    u[gate] = flags & WITH_INPUT ? inputs[gate] : load_lanes(gates + gate * hidden, lanes);
  CellStep s;
  cell_forward(&s, u, products, h, c);
  if (flags & KEEP)
    for (int k = 0; k < SAVED; ++k) store_lanes(s.saved[k], gates + k * hidden, lanes);
#if HAS_CELL_STATE
  store_lanes(s.c, cells_after, lanes);
#endif
  store_lanes(s.h, after, lanes);
}

// The sums of a tile: `count` rows times all gates of a block, from the biases on.
INLINE void tile_products(floatv* sums, int count, __global const float* a, int depth, __global const float* panel,
                          __global const float* bias, int hidden, int lanes, int flags) {
  floatv start[GATES];
  for (int gate = 0; gate < GATES; ++gate)
    start[gate] = flags & WITH_BIAS ? load_lanes(bias + gate * hidden, lanes) : (floatv)(0.0f);
  for (int i = 0; i < count; ++i)
    for (int gate = 0; gate < GATES; ++gate) sums[i * GATES + gate] = start[gate];
  TILE_OF_GATES(sums, count, a, depth, panel, depth);
}

// x (T, B, I); gates (T, B, SAVED H); states (T + 1, B, H); cells the same, or (1, B, H) with cell_slot 0.
CPU_KERNEL void rnn_rows_forward(
    __global const float* restrict x, const ulong x_offset, __global const float* restrict packed_ih,
    const ulong packed_ih_offset, __global const float* restrict bias_ih, const ulong bias_ih_offset,
    __global const float* restrict packed_hh, const ulong packed_hh_offset, __global const float* restrict bias_hh,
    const ulong bias_hh_offset, __global float* gates, const ulong gates_offset, __global float* states,
    const ulong states_offset, __global float* cells, const ulong cells_offset, __global const long* restrict lengths,
    const ulong lengths_offset, const int steps, const int batch, const int inputs, const int hidden,
    const long cell_slot, const int flags) {
  x += x_offset;
  packed_ih += packed_ih_offset;
  bias_ih += bias_ih_offset;
  packed_hh += packed_hh_offset;
  bias_hh += bias_hh_offset;
  gates += gates_offset;
  states += states_offset;
  cells += cells_offset;
  lengths += lengths_offset;
  const Rows rows = rows_of_item(batch);
  const long slot = (long)batch * hidden;
  const int blocks = (hidden + VW - 1) / VW;
  const int tiles = (rows.end - rows.first + TILE_ROWS - 1) / TILE_ROWS;
  for (int n = 0; n < steps && tiles > 0; ++n) {
    const int t = flags & REVERSE ? steps - 1 - n : n;
    const int slot_before = flags & REVERSE ? t + 1 : t;
    const int slot_after = flags & REVERSE ? t : t + 1;
    __global const float* before = states + slot_before * slot;
    __global float* after = states + slot_after * slot;
    __global const float* cells_before = cells + slot_before * cell_slot;
    __global float* cells_after = cells + slot_after * cell_slot;
    for (int block = 0; block < blocks; ++block) {
      // To and fro: what the caches hold of the weights at the end of a step is wanted first in the next.
      const int unit = (n & 1 ? blocks - 1 - block : block) * VW;
      const int lanes = hidden - unit;
      for (int tile = 0; tile < tiles; ++tile) {
        const int first = rows.first + (rows.end - rows.first) * tile / tiles;
        const int count = rows.first + (rows.end - rows.first) * (tile + 1) / tiles - first;
        floatv of_input[TILE_ROWS * GATES], products[TILE_ROWS * GATES];
        if (flags & WITH_INPUT)
          tile_products(of_input, count, x + ((long)t * batch + first) * inputs, inputs,
                        packed_ih + (long)unit * inputs * GATES, bias_ih + unit, hidden, lanes, flags);
        tile_products(products, count, before + (long)first * hidden, hidden, packed_hh + (long)unit * hidden * GATES,
                      bias_hh + unit, hidden, lanes, flags);
        for (int i = 0; i < count; ++i) {
          const long b = first + i;
          const long at = b * hidden + unit;
          const bool over = (flags & WITH_LENGTHS) && t >= lengths[b];
          unit_forward(of_input + i * GATES, products + i * GATES,
                       gates + ((long)t * batch + b) * SAVED * hidden + unit, before + at, after + at,
                       cells_before + at, cells_after + at, hidden, lanes, over, flags);
        }
      }
    }
  }
}

// Gradients of the gates of one row and block of units; dh and dc as in rnn_steps.cl.
INLINE void unit_backward(__global const float* gates, __global const float* before, __global const float* after,
                          __global const float* dy, __global float* dh, __global float* dc, __global float* dinput,
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
  if (flags & WITH_DY) gradient += load_lanes(dy, lanes);
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
#define DEFINE_ADD_PRODUCT(v)                                                                                   \
  INLINE void add_product_##v(__global float* dh, __global const float* drecurrent, __global const float* panel, \
                              int hidden, int count, int lanes) {                                               \
    floatv sums[TILE_ROWS * v];                                                                                 \
    for (int i = 0; i < count; ++i)                                                                             \
      for (int j = 0; j < v; ++j) sums[i * v + j] = load_lanes(dh + (long)i * hidden + j * VW, lanes - j * VW); \
    tile_rows_##v(sums, count, drecurrent, (long)GATES * hidden, panel, hidden);                                \
    for (int i = 0; i < count; ++i)                                                                             \
      for (int j = 0; j < v; ++j) store_lanes(sums[i * v + j], dh + (long)i * hidden + j * VW, lanes - j * VW); \
  }
DEFINE_ADD_PRODUCT(1)
DEFINE_ADD_PRODUCT(4)

// dinput and drecurrent (T, B, GATES H), the same unless CELL is GRU; dh and dc (B, H).
CPU_KERNEL void rnn_rows_backward(__global const float* restrict packed, const ulong packed_offset,
                                  __global const float* restrict gates, const ulong gates_offset,
                                  __global const float* restrict states, const ulong states_offset,
                                  __global const float* restrict dy, const ulong dy_offset, __global float* dh,
                                  const ulong dh_offset, __global float* dc, const ulong dc_offset,
                                  __global float* dinput, const ulong dinput_offset, __global float* drecurrent,
                                  const ulong drecurrent_offset, __global const long* restrict lengths,
                                  const ulong lengths_offset, const int steps, const int batch, const int hidden,
                                  const int flags) {
  packed += packed_offset;
  gates += gates_offset;
  states += states_offset;
  dy += dy_offset;
  dh += dh_offset;
  dc += dc_offset;
  dinput += dinput_offset;
  drecurrent += drecurrent_offset;
  lengths += lengths_offset;
  const Rows rows = rows_of_item(batch);
  const long slot = (long)batch * hidden;
  const int tiles = (rows.end - rows.first + TILE_ROWS - 1) / TILE_ROWS;
  const int vectors = (hidden + VW - 1) / VW;
  for (int n = steps - 1; n >= 0 && tiles > 0; --n) {
    const int t = flags & REVERSE ? steps - 1 - n : n;
    __global const float* before = states + (flags & REVERSE ? t + 1 : t) * slot;
    __global const float* after = states + (flags & REVERSE ? t : t + 1) * slot;
    for (int b = rows.first; b < rows.end; ++b) {
      const long row = (long)t * batch + b;
      const bool over = (flags & WITH_LENGTHS) && t >= lengths[b];
      for (int unit = 0; unit < hidden; unit += VW) {
        const long at = (long)b * hidden + unit;
        unit_backward(gates + row * SAVED * hidden + unit, before + at, after + at, dy + row * hidden + unit, dh + at,
                      dc + at, dinput + row * GATES * hidden + unit, drecurrent + row * GATES * hidden + unit, hidden,
                      hidden - unit, over, flags);
      }
    }
    for (int gate = 0; gate < GATES; ++gate)
      for (int v = 0; v < vectors;) {
        const bool is_panel = v + PANEL <= vectors;
        __global const float* panel = packed + ((long)gate * vectors + v) * hidden * VW;
        for (int tile = 0; tile < tiles; ++tile) {
          const int first = rows.first + (rows.end - rows.first) * tile / tiles;
          const int count = rows.first + (rows.end - rows.first) * (tile + 1) / tiles - first;
          __global float* to = dh + (long)first * hidden + v * VW;
          __global const float* from = drecurrent + (((long)t * batch + first) * GATES + gate) * hidden;
          if (is_panel)
            add_product_4(to, from, panel, hidden, count, hidden - v * VW);
          else
            add_product_1(to, from, panel, hidden, count, hidden - v * VW);
        }
        v += is_panel ? PANEL : 1;
      }
  }
}
