// Reductions on CPUs: work-items without groups, vectors, no barriers.
#include "common/vector.h"
#include "common/element.h"
#include "common/exp.h"

#if defined(WIDE) && !defined(INTEGER)
#define exp_one exp
#define exp_many exp
#else
EXP_OF_NEGATIVE(exp_one, float, int)
EXP_OF_NEGATIVE(exp_many, floatv, intv)
#endif

#include "reduce/combine.h"
#include "reduce/reduce.h"

#define EACH(k, n) _Pragma("unroll") for (int k = 0; k < n; ++k)

// States as arrays: one array for each member. Compilers remove the arrays of members that a kind does not use.
#define STATES_OF(n)               \
  many a[n], b[n], c[n], d[n];     \
  many_index at[n];
#define LOAD_STATE(s, w) many_state s = {a[w], b[w], c[w], d[w], at[w]};
#define KEEP_STATE(s, w) a[w] = s.a, b[w] = s.b, c[w] = s.c, d[w] = s.d, at[w] = s.at;

#define OUTPUT_FORMAL __global void *y, const ulong y_offset, __global long *positions, const long part, const long parts
#define OUTPUT y, y_offset, POSITIONS, part, parts

INLINE void put_lanes(const many v, __global S* to, const int lanes) {
  if (lanes == VW) {
    *(__global unaligned_many*)to = v;
    return;
  }
  one all[VW];
  JOIN(vstore, VW)(v, 0, all);
  for (int i = 0; i < lanes; ++i) to[i] = all[i];
}

// Stores a settled state. Its first `lanes` lanes are the outputs o, o + 1, … Elements are numbered from r on.
OUTLINE void put(const many_state* s, const long o, const int lanes, const long r, const long8 sizes, OUTPUT_FORMAL) {
#if KIND >= KIND_ARG_MAX
  lane_index at[VW];
  JOIN(vstore, VW)(s->at, 0, at);
  for (int i = 0; i < lanes; ++i) positions[part * OUTPUTS + o + i] = r + at[i];
#endif
  if (parts > 1) {
    __global S* states = STATES + part * OUTPUTS + o;
    put_lanes(s->a, states, lanes);
    if (COMPONENTS > 1) put_lanes(s->b, states + parts * OUTPUTS, lanes);
    if (COMPONENTS > 2) put_lanes(s->c, states + 2 * parts * OUTPUTS, lanes);
    return;
  }
  const many result = finish_many(VALUE(many, (*s)), REDUCED, PARAMETER);
#ifdef OUT_IS_S
  put_lanes(result, RESULTS + o, lanes);
#else
  if (lanes == VW) {
    STORE_V(OUT, RESULTS, o, result);
    return;
  }
  one all[VW];
  JOIN(vstore, VW)(result, 0, all);
  for (int i = 0; i < lanes; ++i) STORE_S(OUT, RESULTS, o + i, all[i]);
#endif
}

// Combines the states of parts. A work-item takes SPLIT_A outputs. An output has SPLIT_B parts.
CPU_KERNEL void join(JOIN_PARAMETERS) {
  long o = get_global_id(0) * SPLIT_A;
  const long end = min(o + SPLIT_A, OUTPUTS), parts = SPLIT_B;
#if KIND < KIND_ARG_MAX
  for (; o + VW <= end; o += VW) {
    many_state all;
    START(many, all, 0)
    for (long part = 0; part < parts; ++part) {
      __global const unaligned_many* from = (__global const unaligned_many*)(states + states_offset + part * OUTPUTS + o);
      many_state s = {from[0], (many)(0), (many)(0), (many)(0), (many_index)(0)};
      if (COMPONENTS > 1) s.b = *(__global const unaligned_many*)((__global const S*)from + parts * OUTPUTS);
      if (COMPONENTS > 2) s.c = *(__global const unaligned_many*)((__global const S*)from + 2 * parts * OUTPUTS);
      MERGE(many, all, s)
    }
    SETTLE(many, all)
    put(&all, o, VW, 0, sizes, y, y_offset, POSITIONS, 0, 1);
  }
#endif
  for (; o < end; ++o) {
    one_state all;
    START(one, all, LONG_MAX)
    for (long part = 0; part < parts; ++part) {
      const one_state s = state_of_part(PARTS, part, o, sizes);
      MERGE(one, all, s)
    }
    SETTLE(one, all)
    put_joined(&all, o, 0, RESULTS, POSITIONS, sizes);
  }
}
