// Reductions for CPUs, any strides. reduce/combine.h and reduce/reduce.h define the results.
//
// A work-item takes SPLIT_A outputs and walks along r, in vectors if the last reduced axis is contiguous. VW rows are
// combined at once, so that a short row costs a few instructions.
#ifndef VW
#define VW 16
#endif
#ifndef S
#define S float
#endif

#include "reduce/reduce_cpu.h"

#define LANES_BELOW(n) (LANE_NUMBERS < (many_index)((lane_index)(n)))

// Reads elements i … i+VW-1 along the last reduced axis, of which `left` exist. This function is not inlined: it has
// several callers, none of them is hot, and inlining would double the time to compile.
OUTLINE many gather_along(const CURSOR at, const long i, const long left, SOURCE_FORMAL, AXES_FORMAL) {
  one lanes[VW];
  for (int lane = 0; lane < VW; ++lane) lanes[lane] = lane < left ? READ_ONE_ALONG(at, i + lane) : (one)(0);
  return JOIN(vload, VW)(0, lanes);
}

INLINE many read_along(const CURSOR at, const long i, const long left, const int unit, SOURCE_FORMAL, AXES_FORMAL) {
  many v;
  if (unit && (left >= VW || CAN_READ_MANY(at, i)))
    v = READ_MANY_ALONG(at, i);
  else
    v = gather_along(at, i, left, SOURCE, AXES);
  return map_many(v, PARAMETER);
}

// s sees the n elements of a run, lane by lane. Element 0 has the number `number`. `unit` is true if the elements are
// neighbours in memory.
INLINE void fold_run(many_state* s, const CURSOR at, const long n, const long number, const many base,
                     const int unit, SOURCE_FORMAL, AXES_FORMAL) {
  const many_index first = (many_index)((lane_index)number) + LANE_NUMBERS;
  long i = 0;
  for (; unit && i + 8 * VW <= n; i += 8 * VW) {
    many v[8];
    EACH(k, 8) v[k] = FROM_BASE(read_along(at, i + k * VW, VW, 1, SOURCE, AXES), base);
    FOLD_BLOCK(many, (*s), v, first + (lane_index)i, VW)
  }
  for (; i < n; i += VW) {
    const many v = FROM_BASE(read_along(at, i, n - i, unit, SOURCE, AXES), base);
    many_state t = {s->a, s->b, s->c, s->d, s->at};
    FOLD(many, t, v, first + (lane_index)i)
    TAKE_LANES((*s), t, LANES_BELOW(n - i))
  }
}

// The lanes of row i are a[i], b[i], … Lane i of the result combines all of row i.
INLINE many_state merge_rows(many* a, many* b, many* c, many* d, many_index* at) {
#ifdef PAIR
#define MERGE_ROWS(rows)                                                                              \
  EACH(i, rows) {                                                                                     \
    const many even = (many)(a[2 * i].even, a[2 * i + 1].even), odd = (many)(a[2 * i].odd, a[2 * i + 1].odd); \
    a[i] = PAIR(even, odd);                                                                           \
  }
#else
#define EVEN_OF(v, i) (v[2 * i].even, v[2 * i + 1].even)
#define ODD_OF(v, i) (v[2 * i].odd, v[2 * i + 1].odd)
#define MERGE_ROWS(rows)                                                                                 \
  for (int i = 0; i < rows; ++i) {                                                                       \
    many_state even = {(many)EVEN_OF(a, i), (many)EVEN_OF(b, i), (many)EVEN_OF(c, i), (many)(0),         \
                       (many_index)EVEN_OF(at, i)};                                                      \
    const many_state odd = {(many)ODD_OF(a, i), (many)ODD_OF(b, i), (many)ODD_OF(c, i), (many)(0),       \
                            (many_index)ODD_OF(at, i)};                                                  \
    MERGE(many, even, odd)                                                                               \
    SETTLE(many, even)                                                                                   \
    KEEP_STATE(even, i)                                                                                  \
  }
#endif
  MERGE_ROWS(VW / 2)
  MERGE_ROWS(VW / 4)
  MERGE_ROWS(VW / 8)
  MERGE_ROWS(VW / 16)
#ifdef PAIR
  const many_state all = {a[0], (many)(0), (many)(0), (many)(0), (many_index)(0)};
#else
  LOAD_STATE(all, 0)
#endif
  return all;
}

#define ROWS_FORMAL const long first, const long end, const long r, const long r_end
// Reduces VW rows at once, run after run, in the order of memory.
INLINE void reduce_rows(ROWS_FORMAL, OUTPUT_FORMAL, SOURCE_FORMAL, AXES_FORMAL) {
  for (long o = first; o < end; o += VW) {
    const int lanes = (int)min((long)VW, end - o);
    STATES_OF(VW)
    for (int i = 0; i < VW; ++i) {
      many_state s;
      START(many, s, 0)
      KEEP_STATE(s, i)
    }
    for (long begin = r; begin < r_end;) {
      const long n = min(reduced_shape.s0 - begin % reduced_shape.s0, r_end - begin);
      for (int i = 0; i < lanes; ++i) {
        CURSOR row;
        SEEK(row, o + i)
        many base = (many)(0);
        if (KIND == KIND_MOMENTS) base = (many)(map_one(READ_ONE_ALONG(row, 0), PARAMETER));
        MOVE(row, row, begin)
        LOAD_STATE(s, i)
        fold_run(&s, row, n, begin - r, base, ALONG_IS_UNIT, SOURCE, AXES);
        KEEP_STATE(s, i)
      }
      begin += n;
    }
    for (int i = 0; i < lanes; ++i) {
      LOAD_STATE(s, i)
      SETTLE(many, s)
      KEEP_STATE(s, i)
    }
    const many_state all = merge_rows(a, b, c, d, at);
    put(&all, o, lanes, r, sizes, y, y_offset, positions, part, parts);
  }
}

#ifdef PAIR
// Reduces rows of up to 8 VW elements in one run.
INLINE void reduce_short_rows(ROWS_FORMAL, OUTPUT_FORMAL, SOURCE_FORMAL, AXES_FORMAL) {
  const long n = r_end - r;
  const many_index last = LANES_BELOW(n % VW == 0 ? VW : n % VW);
  for (long o = first; o < end; o += VW) {
    const int lanes = (int)min((long)VW, end - o);
    many a[VW];
    for (int i = 0; i < VW; ++i) {
      CURSOR row;
      SEEK(row, o + min(i, lanes - 1))
      MOVE(row, row, r)
      many all = (many)(IDENTITY);
      long k = 0;
      for (; k + VW < n; k += VW) all = PAIR(all, read_along(row, k, VW, 1, SOURCE, AXES));
      const many v = read_along(row, k, n - k, 1, SOURCE, AXES);
      const many both = PAIR(all, v);
      a[i] = last ? both : all;
    }
    const many_state all = merge_rows(a, 0, 0, 0, 0);
#ifdef OUT_IS_S
    if (parts == 1 && lanes == VW) {
      put_lanes(finish_many(all.a, REDUCED, PARAMETER), RESULTS + o, VW);
      continue;
    }
#endif
    put(&all, o, lanes, r, sizes, y, y_offset, positions, part, parts);
  }
}
#define IS_SHORT(n) (ALONG_IS_UNIT && REDUCED_RANK == 1 && (n) <= 8 * VW && (n) > 0)
#else
// Reduces rows of up to 8 elements: lane i has row i from the start, so no lanes are merged.
INLINE void reduce_short_rows(ROWS_FORMAL, OUTPUT_FORMAL, SOURCE_FORMAL, AXES_FORMAL) {
  NO_UNROLL
  for (long o = first; o < end; o += VW) {
    const int lanes = (int)min((long)VW, end - o);
    CURSOR rows[VW];
    one firsts[VW];
    NO_UNROLL
    for (int i = 0; i < VW; ++i) {
      CURSOR row;
      SEEK(row, o + min(i, lanes - 1))
      MOVE(rows[i], row, r)
      if (KIND == KIND_MOMENTS) firsts[i] = READ_ONE_ALONG(row, 0);
    }
    many base = (many)(0);
    if (KIND == KIND_MOMENTS) base = map_many(JOIN(vload, VW)(0, firsts), PARAMETER);
    many_state s;
    START(many, s, 0)
    NO_UNROLL
    for (long k = 0; k < r_end - r; ++k) {
      one next[VW];
      NO_UNROLL
      for (int i = 0; i < VW; ++i) next[i] = READ_ONE_ALONG(rows[i], k);
      const many v = FROM_BASE(map_many(JOIN(vload, VW)(0, next), PARAMETER), base);
      FOLD(many, s, v, (many_index)((lane_index)k))
    }
    SETTLE(many, s)
    put(&s, o, lanes, r, sizes, y, y_offset, positions, part, parts);
  }
}
#define IS_SHORT(n) (REDUCED_RANK == 1 && (n) <= 8 && (n) > 0)
#endif

// A work-item takes SPLIT_A outputs.
CPU_KERNEL void rows(REDUCE_PARAMETERS) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  const long first = get_global_id(0) * SPLIT_A;
  const long end = min(first + SPLIT_A, OUTPUTS);
  if (IS_SHORT(r_end - r))
    reduce_short_rows(first, end, r, r_end, OUTPUT, SOURCE, AXES);
  else
    reduce_rows(first, end, r, r_end, OUTPUT, SOURCE, AXES);
}
