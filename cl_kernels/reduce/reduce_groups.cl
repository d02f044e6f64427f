// Reductions for GPUs. reduce/combine.h and reduce/reduce.h define the results.
//
// items        a work-item takes one output, or VW neighbouring outputs. Neighbouring items read neighbouring elements
//              if the last kept axis is contiguous.
// groups       SPAN work-items take one output, and a work-group takes ROWS outputs. If a group took one output, short
//              rows would leave most of its items idle.
// join_items   a work-item combines the states of an output's parts; join_groups: a work-group does
//
//   FORM   what is read at once: one element (FORM_SCALARS), VW neighbours along the last reduced axis (FORM_ALONG, for
//          `groups`) or the last kept one (FORM_ACROSS, for `items`). A unit is VW elements r for FORM_ALONG, one for
//          the others.
//   RUNS   1: there is one reduced axis, 2: two, 3: more. Positions are computed by additions. With more than two axes,
//          divisions are needed where a run along the last axis ends.
//   INDEX  a type that holds the size of the last reduced axis and the number of runs
#ifndef VW
#define VW 4
#endif
#ifndef S
#define S float
#endif
#ifndef SPAN
#define SPAN 128
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef RUNS
#define RUNS 3
#endif
#ifndef INDEX
#define INDEX int
#endif
#include "reduce/kinds.h"
#ifndef FORM
#define FORM FORM_SCALARS
#endif

#include "common/vector.h"
#include "common/element.h"

#define exp_one exp
#define exp_many exp
#define EACH_EXP(k) _Pragma("unroll") for (int k = 1; k < 8; ++k)

#include "reduce/combine.h"
#define OUTLINE INLINE  // A function call would need a stack in every work-item.
#include "reduce/reduce.h"
#include "common/subgroup_shuffle.h"
#define EACH(k, n) _Pragma("unroll") for (int k = 0; k < n; ++k)

// The type that holds what is read at once.
#define exp_wide exp
#if FORM == FORM_SCALARS
typedef one wide;
typedef one_index wide_index;
typedef one_state wide_state;
#else
typedef many wide;
typedef many_index wide_index;
typedef many_state wide_state;
#endif
#if FORM == FORM_ALONG
#define UNIT VW
#define UNIT_NUMBERS LANE_NUMBERS
#else
#define UNIT 1
#define UNIT_NUMBERS (wide_index)(0)
#endif
#define UNITS (REDUCED / UNIT)
#define UNIT_BEGIN(part, parts) (UNITS / (parts) * (part) + min((long)(part), UNITS % (parts)))

// Reads unit i of a run.
INLINE wide read_unit(const CURSOR run, const long i, SOURCE_FORMAL, AXES_FORMAL) {
#if FORM == FORM_SCALARS
  return map_one(READ_ONE_ALONG(run, i), PARAMETER);
#elif FORM == FORM_ALONG
  return map_many(READ_MANY_ALONG(run, i * VW), PARAMETER);
#else
  CURSOR at;
  MOVE_ALONG(at, run, i)
  return map_many(READ_MANY_ACROSS(at, 0), PARAMETER);
#endif
}

// The number that is subtracted from all elements of an output: its first element.
INLINE wide base_of(const CURSOR row, SOURCE_FORMAL, AXES_FORMAL) {
#if FORM == FORM_ACROSS
  if (KIND == KIND_MOMENTS && REDUCED > 0) return map_many(READ_MANY_ACROSS(row, 0), PARAMETER);
#else
  if (KIND == KIND_MOMENTS && REDUCED > 0) return (wide)(map_one(READ_ONE_ALONG(row, 0), PARAMETER));
#endif
  return (wide)(0);
}

// v becomes the next unit, which is `step` units after this one.
#if RUNS == 1
#define NEXT(v)                                                       \
  v = FROM_BASE(read_unit(row, unit, SOURCE, AXES), base);            \
  unit += step;
#else
#define NEXT(v)                                                       \
  if (RUNS == 2 || moved) MOVE_TO_RUN(at, row, run)                   \
  v = FROM_BASE(read_unit(at, i, SOURCE, AXES), base);                \
  i += step_i;                                                        \
  run += step_run + (i >= size);                                      \
  moved = step_run > 0 || i >= size;                                  \
  i -= i >= size ? size : 0;
#endif

// s sees every `step`-th of the `count` units from `begin` on, starting with unit `first`. Elements are numbered from
// `begin` on.
INLINE void fold_units(wide_state* result, const CURSOR row, const wide base, const long begin, const int count,
                       const int first, const int step, SOURCE_FORMAL, AXES_FORMAL) {
  wide_state s;
  START(wide, s, 0)
#if RUNS == 1
  long unit = begin + first;
#else
  const INDEX size = (INDEX)(reduced_shape.s0 / UNIT), step_i = step % size, step_run = step / size;
  INDEX i = (INDEX)((begin + first) % size), run = (INDEX)((begin + first) / size);
  bool moved = true;
  CURSOR at;
#endif
  int n = first;
  for (; n + 7 * step < count; n += 8 * step) {
    wide v[8];
    EACH(k, 8) { NEXT(v[k]) }
    FOLD_BLOCK(wide, s, v, (wide_index)(n * UNIT) + UNIT_NUMBERS, step * UNIT)
  }
  for (; n < count; n += step) {
    wide v;
    NEXT(v)
    FOLD(wide, s, v, (wide_index)(n * UNIT) + UNIT_NUMBERS)
  }
  SETTLE(wide, s)
  *result = s;
}

// One lane of a settled state.
#if FORM == FORM_SCALARS
#define STATE_LANES 1
#define LANES_OF_STATE(s)
#define STATE_OF_LANE(k) s
#else
#define STATE_LANES VW
#define LANES_OF_STATE(s)                                              \
  one lane_a[VW], lane_b[VW], lane_c[VW];                              \
  lane_index lane_at[VW];                                              \
  JOIN(vstore, VW)(s.a, 0, lane_a);                                    \
  JOIN(vstore, VW)(s.b, 0, lane_b);                                    \
  JOIN(vstore, VW)(s.c, 0, lane_c);                                    \
  JOIN(vstore, VW)(s.at, 0, lane_at);
#define STATE_OF_LANE(k) {lane_a[k], lane_b[k], lane_c[k], 0, lane_at[k]}
#endif

// Stores a settled state whose elements are numbered from `begin` on.
INLINE void put(const one_state* s, const long o, const long begin, __global void* y, const ulong y_offset,
                __global long* positions, const long part, const long parts, const long8 sizes) {
  if (parts == 1) {
    put_joined(s, o, begin, RESULTS, positions, sizes);
    return;
  }
  __global S* states = STATES + part * OUTPUTS + o;
  states[0] = s->a;
  if (COMPONENTS > 1) states[parts * OUTPUTS] = s->b;
  if (COMPONENTS > 2) states[2 * parts * OUTPUTS] = s->c;
  if (KIND >= KIND_ARG_MAX) positions[part * OUTPUTS + o] = s->at + begin;
}

#if FORM != FORM_ALONG
__kernel void items(REDUCE_PARAMETERS) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long begin = UNIT_BEGIN(part, parts), end = UNIT_BEGIN(part + 1, parts);
  const long o = (long)get_global_id(0) * STATE_LANES;
  if (o >= OUTPUTS) return;
  CURSOR row;
  SEEK(row, o)
  wide_state s;
  fold_units(&s, row, base_of(row, SOURCE, AXES), begin, (int)(end - begin), 0, 1, SOURCE, AXES);
  LANES_OF_STATE(s)
  EACH(k, STATE_LANES) {
    const one_state lane = STATE_OF_LANE(k);
    put(&lane, o + k, begin, y, y_offset, POSITIONS, part, parts, sizes);
  }
}
#endif

// ---- Combines the states of the SPAN items of a row. Every item of the group must execute this ----

#if defined(WIDE) && !defined(INTEGER)
#define SHUFFLE_ONE(v, mask) as_double(SHUFFLE_XOR_LONG(as_long(v), mask))
#elif !defined(INTEGER)
#define SHUFFLE_ONE(v, mask) SHUFFLE_XOR(float, v, mask)
#elif defined(WIDE)
#define SHUFFLE_ONE(v, mask) OF_TYPE(as_, S)(SHUFFLE_XOR_LONG(v, mask))
#else
#define SHUFFLE_ONE(v, mask) SHUFFLE_XOR(int, v, mask)
#endif
#define MERGE_SHUFFLED(s, mask)                                   \
  if (SHUFFLE_LANES > mask && SPAN > mask) {                        \
    one_state shuffled = {SHUFFLE_ONE(s.a, mask), 0, 0, 0, 0};       \
    if (COMPONENTS > 1) shuffled.b = SHUFFLE_ONE(s.b, mask);         \
    if (COMPONENTS > 2) shuffled.c = SHUFFLE_ONE(s.c, mask);         \
    if (KIND >= KIND_ARG_MAX) shuffled.at = SHUFFLE_XOR_LONG(s.at, mask);     \
    MERGE(one, s, shuffled)                                       \
    SETTLE(one, s)                                               \
  }
#define KEEP_IN_TREE(s, to)                  \
  tree_a[to] = s.a;                          \
  if (COMPONENTS > 1) tree_b[to] = s.b;      \
  if (COMPONENTS > 2) tree_c[to] = s.c;      \
  if (KIND >= KIND_ARG_MAX) tree_at[to] = s.at;
#define MERGE_FROM_TREE(s, from)                          \
  {                                                       \
    one_state kept = {tree_a[from], 0, 0, 0, 0};          \
    if (COMPONENTS > 1) kept.b = tree_b[from];            \
    if (COMPONENTS > 2) kept.c = tree_c[from];            \
    if (KIND >= KIND_ARG_MAX) kept.at = tree_at[from];         \
    MERGE(one, s, kept)                                   \
    SETTLE(one, s)                                        \
  }
#define SLOTS (SPAN > SHUFFLE_LANES ? SPAN / SHUFFLE_LANES : 1)  // The slots of a row in local memory.
#define GROUP_TREE(s)                                                                   \
  __local one tree_a[ROWS * SLOTS];                                                     \
  __local one tree_b[COMPONENTS > 1 ? ROWS * SLOTS : 1];                                \
  __local one tree_c[COMPONENTS > 2 ? ROWS * SLOTS : 1];                                \
  __local long tree_at[KIND >= KIND_ARG_MAX ? ROWS * SLOTS : 1];                             \
  MERGE_SHUFFLED(s, 16)                                                                  \
  MERGE_SHUFFLED(s, 8)                                                                   \
  MERGE_SHUFFLED(s, 4)                                                                   \
  MERGE_SHUFFLED(s, 2)                                                                   \
  MERGE_SHUFFLED(s, 1)                                                                   \
  if (SLOTS > 1) {                                                                      \
    const int tree_item = get_local_id(0);                                              \
    const int slot = (int)get_local_id(1) * SLOTS + tree_item / SHUFFLE_LANES;             \
    if (tree_item % SHUFFLE_LANES == 0) { KEEP_IN_TREE(s, slot) }                          \
    for (int half_width = SLOTS / 2; half_width > 0; half_width /= 2) {                 \
      barrier(CLK_LOCAL_MEM_FENCE);                                                     \
      if (tree_item < half_width * SHUFFLE_LANES && tree_item % SHUFFLE_LANES == 0) {         \
        MERGE_FROM_TREE(s, slot + half_width)                                           \
        KEEP_IN_TREE(s, slot)                                                           \
      }                                                                                 \
    }                                                                                   \
  }

#if FORM != FORM_ACROSS
GROUP_KERNEL(SPAN, ROWS) void groups(REDUCE_PARAMETERS) {
  const long part = get_group_id(1), parts = get_num_groups(1);
  const long begin = UNIT_BEGIN(part, parts), end = UNIT_BEGIN(part + 1, parts);
  const long o = (long)get_group_id(0) * ROWS + get_local_id(1);
  const int item = get_local_id(0);
  CURSOR row;
  SEEK(row, min(o, OUTPUTS - 1))
  const wide base = base_of(row, SOURCE, AXES);
  wide_state s;
  fold_units(&s, row, base, begin, (int)(end - begin), item, SPAN, SOURCE, AXES);
  LANES_OF_STATE(s)
  one_state all = STATE_OF_LANE(0);
  EACH(k, STATE_LANES - 1) {
    const one_state lane = STATE_OF_LANE(k + 1);
    MERGE(one, all, lane)
  }
#if FORM == FORM_ALONG && RUNS == 1
  // The last elements, which do not fill a vector.
  if (part == parts - 1 && item < REDUCED % VW) {
    const one v = map_one(READ_ONE_ALONG(row, UNITS * VW + item), PARAMETER);
    FOLD(one, all, FROM_BASE(v, base.s0), (end - begin) * VW + item)
  }
#endif
  SETTLE(one, all)
  GROUP_TREE(all)
  if (item == 0 && o < OUTPUTS) put(&all, o, begin * UNIT, y, y_offset, POSITIONS, part, parts, sizes);
}
#endif

__kernel void join_items(JOIN_PARAMETERS) {
  const long o = get_global_id(0);
  if (o >= OUTPUTS) return;
  one_state s;
  START(one, s, LONG_MAX)
  for (long part = 0; part < SPLIT_B; ++part) {
    const one_state more = state_of_part(PARTS, part, o, sizes);
    MERGE(one, s, more)
  }
  SETTLE(one, s)
  put_joined(&s, o, 0, RESULTS, POSITIONS, sizes);
}

GROUP_KERNEL(SPAN, ROWS) void join_groups(JOIN_PARAMETERS) {
  const long o = (long)get_group_id(0) * ROWS + get_local_id(1);
  one_state s;
  START(one, s, LONG_MAX)
  for (long part = get_local_id(0); part < SPLIT_B; part += SPAN) {
    const one_state more = state_of_part(PARTS, part, min(o, OUTPUTS - 1), sizes);
    MERGE(one, s, more)
  }
  SETTLE(one, s)
  GROUP_TREE(s)
  if (get_local_id(0) == 0 && o < OUTPUTS) put_joined(&s, o, 0, RESULTS, POSITIONS, sizes);
}
