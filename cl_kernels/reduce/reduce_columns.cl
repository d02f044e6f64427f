// Reductions for CPUs where the last kept axis is contiguous: the lanes of a vector are neighbouring outputs.
// reduce/combine.h and reduce/reduce.h define the results.
//
// A unit is a strip of SPLIT_B columns, which is at most STRIP vectors, or the rest of the last kept axis. There are
// SPLIT_A units. Item i of the range takes the units from SPLIT_A * i / items on. It reduces eight rows at a time.
#ifndef VW
#define VW 16
#endif
#ifndef S
#define S float
#endif
#ifndef STRIP
#define STRIP 64
#endif

#include "reduce/reduce_cpu.h"

// Reads VW neighbouring columns from i on, of which `left` exist.
OUTLINE many gather_across(const CURSOR at, const long i, const int left, SOURCE_FORMAL, AXES_FORMAL) {
  one lanes[VW];
  for (int lane = 0; lane < VW; ++lane) lanes[lane] = lane < left ? READ_ONE_ACROSS(at, i + lane) : (one)(0);
  return map_many(JOIN(vload, VW)(0, lanes), PARAMETER);
}

// Reduces the columns o … o+n-1 of a strip over the rows r … r_end-1.
INLINE void reduce_strip(const long o, const int n, const long r, const long r_end, OUTPUT_FORMAL, SOURCE_FORMAL,
                         AXES_FORMAL) {
  STATES_OF(STRIP)
#if KIND == KIND_MOMENTS
  many base[STRIP];
#endif
  const int vectors = (n + VW - 1) / VW;
  CURSOR column;
  SEEK(column, o)
  for (int w = 0; w < vectors; ++w) {
    many_state s;
    START(many, s, 0)
    KEEP_STATE(s, w)
#if KIND == KIND_MOMENTS
    base[w] = REDUCED == 0 ? (many)(0) : gather_across(column, w * VW, n - w * VW, SOURCE, AXES);
#endif
  }
  CURSOR row[8];
  long i = r;
  for (; i + 8 <= r_end; i += 8) {
    EACH(k, 8) MOVE(row[k], column, i + k)
    int readable = 1;
    EACH(k, 8) readable &= CAN_READ_MANY(row[k], (vectors - 1) * VW);
    const int whole = readable ? vectors : n / VW;
    for (int w = 0; w < whole; ++w) {
      many v[8];
      EACH(k, 8) v[k] = FROM_BASE(map_many(READ_MANY_ACROSS(row[k], w * VW), PARAMETER), base[w]);
      LOAD_STATE(s, w)
      FOLD_BLOCK(many, s, v, (many_index)((lane_index)(i - r)), 1)
      KEEP_STATE(s, w)
    }
    if (whole < vectors) {
      many v[8];
      for (int k = 0; k < 8; ++k)
        v[k] = FROM_BASE(gather_across(row[k], whole * VW, n - whole * VW, SOURCE, AXES), base[whole]);
      LOAD_STATE(s, whole)
      FOLD_BLOCK(many, s, v, (many_index)((lane_index)(i - r)), 1)
      KEEP_STATE(s, whole)
    }
  }
  for (; i < r_end; ++i) {
    MOVE(row[0], column, i)
    for (int w = 0; w < vectors; ++w) {
      many v;
      if (n - w * VW >= VW)
        v = map_many(READ_MANY_ACROSS(row[0], w * VW), PARAMETER);
      else
        v = gather_across(row[0], w * VW, n - w * VW, SOURCE, AXES);
      v = FROM_BASE(v, base[w]);
      LOAD_STATE(s, w)
      FOLD(many, s, v, (many_index)((lane_index)(i - r)))
      KEEP_STATE(s, w)
    }
  }
  for (int w = 0; w < vectors; ++w) {
    LOAD_STATE(s, w)
    SETTLE(many, s)
    put(&s, o + w * VW, min(VW, n - w * VW), r, sizes, y, y_offset, positions, part, parts);
  }
}

CPU_KERNEL void columns(REDUCE_PARAMETERS) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  const long strips = (kept_shape.s0 + SPLIT_B - 1) / SPLIT_B;
  const long item = get_global_id(0), items = get_global_size(0);
  for (long unit = SPLIT_A * item / items; unit < SPLIT_A * (item + 1) / items; ++unit) {
    const long begin = unit % strips * SPLIT_B;
    const int n = (int)min(SPLIT_B, kept_shape.s0 - begin);
    reduce_strip(unit / strips * kept_shape.s0 + begin, n, r, r_end, OUTPUT, SOURCE, AXES);
  }
}
