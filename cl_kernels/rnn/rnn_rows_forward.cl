// Recurrent layers on CPUs, forward; B rows, T steps, H hidden units in blocks of VW. Formulas are in
// rnn/rnn_cell.h, flags in rnn/flags.h.
//
// For each step, block of units and tile of rows, the kernel computes the products W_hh h of all gates in registers,
// and then the gates. W_hh is packed as [ceil(H / VW)][H][GATES][VW], with zeros for units that do not exist. So the
// weights of a block stay in the caches for all rows. With WITH_INPUT the kernel computes W_ih x in the same way.
// Without it, W_ih x is in `gates` already.
#include "rnn/rnn_rows.h"
#include "common/transpose_memory.h"

#ifdef STORED_IS_FLOAT
#define transpose_elements transpose_memory
#else
DEFINE_TRANSPOSE_MEMORY(transpose_elements, STORED)
#endif

DEFINE_TILES(GATES)

// weight (GATES H, depth). A unit of work is a gate of a block of units.
CPU_KERNEL void rnn_pack_forward(__global const STORED* restrict weight, const ulong weight_offset,
                                 __global float* restrict packed, const ulong packed_offset, const int hidden,
                                 const int depth) {
  const int blocks = (hidden + VW - 1) / VW;
  const int units = blocks * GATES;
  const int item = get_global_id(0);
  const int items = get_global_size(0);
  for (int unit = (int)((long)units * item / items); unit < (int)((long)units * (item + 1) / items); ++unit) {
    const int block = unit / GATES;
    const int gate = unit % GATES;
    const int lanes = min(VW, hidden - block * VW);
    __global const STORED* in = weight + weight_offset + ((long)gate * hidden + block * VW) * depth;
    __global float* to = packed + packed_offset + ((long)block * depth * GATES + gate) * VW;
    int k = 0;
    if (lanes == VW) {
      NO_UNROLL
      for (; k + VW <= depth; k += VW) transpose_elements(in + k, depth, to + (long)k * GATES * VW, GATES * VW);
    }
    NO_UNROLL
    for (; k < depth; ++k) NO_UNROLL
    for (int lane = 0; lane < VW; ++lane)
      to[(long)k * GATES * VW + lane] = lane < lanes ? LOAD(STORED, in, (long)lane * depth + k) : 0.0f;
  }
}

// Computes the gates of one row and one block of units. `products` holds W_hh h + b_hh. `inputs` holds W_ih x + b_ih,
// unless these values are in `gates`. All pointers point to the row's block.
INLINE void unit_forward(const floatv inputs[GATES], const floatv products[GATES], __global float* gates,
                         __global const float* before, __global float* after, __global const float* cells_before,
                         __global float* cells_after, int hidden, int lanes, bool over, int flags) {
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

// Starts the sums of `count` rows and all gates of a block with the biases.
INLINE void tile_start(floatv* sums, int count, __global const float* bias, int hidden, int lanes, int flags) {
  for (int gate = 0; gate < GATES; ++gate) {
    const floatv start = flags & WITH_BIAS ? load_lanes(bias + gate * hidden, lanes) : (floatv)(0.0f);
    NO_UNROLL
    for (int i = 0; i < count; ++i) sums[i * GATES + gate] = start;
  }
}

// Computes a part of the sums of `count` rows and all gates of a block: the biases, and the products with W_ih or W_hh.
// `a` has `depth` columns.
INLINE void gate_sums(floatv* sums, int count, __global const float* a, __global const float* packed,
                      __global const float* bias, int depth, int unit, int hidden, int flags) {
  tile_start(sums, count, bias + unit, hidden, hidden - unit, flags);
  JOIN(tile_rows_, GATES)(sums, count, a, depth, packed + (long)unit * depth * GATES, depth);
}

// x (T, B, I); gates (T, B, SAVED H); states (T + 1, B, H); cells has the shape of states, or (1, B, H) with cell_slot
// 0. The states before the first step are h0 and c0 (B, H), which may be parts of states and cells.
CPU_KERNEL void rnn_rows_forward(__global const float* restrict x, const ulong x_offset,
                                 __global const float* restrict packed_ih, const ulong packed_ih_offset,
                                 __global const float* restrict bias_ih, const ulong bias_ih_offset,
                                 __global const float* restrict packed_hh, const ulong packed_hh_offset,
                                 __global const float* restrict bias_hh, const ulong bias_hh_offset,
                                 __global const float* h0, const ulong h0_offset, __global const float* c0,
                                 const ulong c0_offset, FORWARD_PARAMETERS, const int steps, const int batch,
                                 const int inputs, const int hidden, const long cell_slot, const int flags) {
  x += x_offset;
  packed_ih += packed_ih_offset;
  bias_ih += bias_ih_offset;
  packed_hh += packed_hh_offset;
  bias_hh += bias_hh_offset;
  h0 += h0_offset;
  c0 += c0_offset;
  gates += gates_offset;
  states += states_offset;
  cells += cells_offset;
  lengths += lengths_offset;
  const Rows rows = rows_of_item(batch, get_global_id(0), get_global_size(0));
  const long slot = (long)batch * hidden;
  const int blocks = (hidden + VW - 1) / VW;
  const int tiles = (rows.end - rows.first + TILE_ROWS - 1) / TILE_ROWS;
  for (int n = 0; n < steps && tiles > 0; ++n) {
    const int t = flags & REVERSE ? steps - 1 - n : n;
    const int slot_before = flags & REVERSE ? t + 1 : t;
    const int slot_after = flags & REVERSE ? t : t + 1;
    __global const float* before = n == 0 ? h0 : states + slot_before * slot;
    __global float* after = states + slot_after * slot;
    __global const float* cells_before = n == 0 ? c0 : cells + slot_before * cell_slot;
    __global float* cells_after = cells + slot_after * cell_slot;
    for (int block = 0; block < blocks; ++block) {
      // Blocks go forwards in one step and backwards in the next. So a step starts with the weights that are still in
      // the caches.
      const int unit = (n & 1 ? blocks - 1 - block : block) * VW;
      const int lanes = hidden - unit;
      for (int tile = 0; tile < tiles; ++tile) {
        const int first = rows.first + tile * TILE_ROWS;
        const int count = min(TILE_ROWS, rows.end - first);
        floatv sums[2][TILE_ROWS * GATES];  // The sums for the input, and the sums for the state.
        NO_UNROLL
        for (int part = flags & WITH_INPUT ? 0 : 1; part < 2; ++part) {
          const bool of_input = part == 0;
          __global const float* a = of_input ? x + ROW_AT(t, batch, first, inputs) : before + (long)first * hidden;
          gate_sums(sums[part], count, a, of_input ? packed_ih : packed_hh, of_input ? bias_ih : bias_hh,
                    of_input ? inputs : hidden, unit, hidden, flags);
        }
        NO_UNROLL
        for (int i = 0; i < count; ++i) {
          const long b = first + i;
          const long at = b * hidden + unit;
          const bool over = (flags & WITH_LENGTHS) && t >= lengths[b];
          unit_forward(sums[0] + i * GATES, sums[1] + i * GATES, gates + ROW_AT(t, batch, b, SAVED * hidden) + unit,
                       before + at, after + at, cells_before + at, cells_after + at, hidden, lanes, over, flags);
        }
      }
    }
  }
}
