// Reductions for GPUs. What is computed: common/combine.h and common/reduce.h.
//
// items        a work-item takes one output; neighbouring items read neighbouring elements where the last kept axis is
//              contiguous.
// groups       a work-group of LOCAL items takes one output; a tree in local memory joins their states.
// join_groups  a work-group brings the states of an output's parts together.
#ifndef VW
#define VW 4
#endif
#ifndef S
#define S float
#endif
#ifndef LOCAL
#define LOCAL 128
#endif

#include "common/vector.h"
#include "common/element.h"

#define exp_one exp

#include "common/combine.h"
#include "common/reduce.h"

#define EACH(k, n) _Pragma("unroll") for (int k = 0; k < n; ++k)

// Every `step`-th of the elements r … r_end-1 of a row; `first` is where the part begins.
INLINE one_state fold_items(const CURSOR row, long r, const long r_end, const long step, const long first, SOURCE_FORMAL,
                            AXES_FORMAL) {
  one_state s;
  START(one, s, first)
  CURSOR at;
  one base;
  if (KIND == MOMENTS && REDUCED > 0) base = map_one(READ_ONE_ALONG(row, 0), PARAMETER);
  for (; r + 7 * step < r_end; r += 8 * step) {
    one v[8];
    EACH(k, 8) {
      MOVE(at, row, r + k * step)
      v[k] = FROM_BASE(map_one(READ_ONE_ALONG(at, 0), PARAMETER), base);
    }
    FOLD_BLOCK(one, s, v, r, step)
  }
  for (; r < r_end; r += step) {
    MOVE(at, row, r)
    const one v = FROM_BASE(map_one(READ_ONE_ALONG(at, 0), PARAMETER), base);
    FOLD(one, s, v, r)
  }
  SETTLE(one, s)
  return s;
}

INLINE void put(const one_state s, const long o, __global void* y, const ulong y_offset, __global long* positions,
                const long part, const long parts, const long8 sizes) {
  if (parts == 1) {
    put_joined(s, o, RESULTS, positions, sizes);
    return;
  }
  __global S* states = STATES + part * OUTPUTS + o;
  states[0] = s.a;
  if (COMPONENTS > 1) states[parts * OUTPUTS] = s.b;
  if (COMPONENTS > 2) states[2 * parts * OUTPUTS] = s.c;
  if (KIND >= ARG_MAX) positions[part * OUTPUTS + o] = s.at;
}

__kernel void items(REDUCE_PARAMETERS) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  const long o = get_global_id(0);
  if (o >= OUTPUTS) return;
  CURSOR row;
  SEEK(row, o)
  const one_state s = fold_items(row, r, r_end, 1, r, SOURCE, AXES);
  put(s, o, y, y_offset, POSITIONS, part, parts, sizes);
}

// What the items of a group have seen; every one of them must get here.
#define GROUP_TREE(s)                                                       \
  __local one tree_a[LOCAL];                                                \
  __local one tree_b[COMPONENTS > 1 ? LOCAL : 1];                           \
  __local one tree_c[COMPONENTS > 2 ? LOCAL : 1];                           \
  __local long tree_at[KIND >= ARG_MAX ? LOCAL : 1];                        \
  const int item = get_local_id(0);                                         \
  KEEP_IN_TREE(s)                                                           \
  for (int half_width = LOCAL / 2; half_width > 0; half_width /= 2) {       \
    barrier(CLK_LOCAL_MEM_FENCE);                                           \
    if (item < half_width) {                                                \
      one_state o = {tree_a[item + half_width], 0, 0, 0, 0};                \
      if (COMPONENTS > 1) o.b = tree_b[item + half_width];                  \
      if (COMPONENTS > 2) o.c = tree_c[item + half_width];                  \
      if (KIND >= ARG_MAX) o.at = tree_at[item + half_width];               \
      MERGE(one, s, o)                                                      \
      SETTLE(one, s)                                                        \
      KEEP_IN_TREE(s)                                                       \
    }                                                                       \
  }
#define KEEP_IN_TREE(s)                                 \
  tree_a[item] = s.a;                                   \
  if (COMPONENTS > 1) tree_b[item] = s.b;               \
  if (COMPONENTS > 2) tree_c[item] = s.c;               \
  if (KIND >= ARG_MAX) tree_at[item] = s.at;

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))
void groups(REDUCE_PARAMETERS) {
  const long part = get_group_id(1), parts = get_num_groups(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  const long o = get_group_id(0);
  CURSOR row;
  SEEK(row, o)
  one_state s = fold_items(row, r + get_local_id(0), r_end, LOCAL, r, SOURCE, AXES);
  GROUP_TREE(s)
  if (item == 0) put(s, o, y, y_offset, POSITIONS, part, parts, sizes);
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))
void join_groups(JOIN_PARAMETERS) {
  const long o = get_group_id(0);
  one_state s;
  START(one, s, LONG_MAX)
  for (long part = get_local_id(0); part < SPLIT_B; part += LOCAL) {
    const one_state more = state_of_part(PARTS, part, o, sizes);
    MERGE(one, s, more)
  }
  SETTLE(one, s)
  GROUP_TREE(s)
  if (item == 0) put_joined(s, o, RESULTS, POSITIONS, sizes);
}
