// GROUP_TREE(name, combine) defines name(v, scratch): the combination of v over all GROUP work-items of a work-group.
// GROUP is a power of two. Every item gets the result, and the order of the combination is always the same. All items
// of the work-group must call the function. scratch is local memory for GROUP numbers.
#include "common/real.h"
#include "common/subgroup_shuffle.h"

#ifdef REAL_IS_DOUBLE
#define SHUFFLE_REAL(v, mask) as_double(SHUFFLE_XOR_LONG(as_long(v), mask))
#else
#define SHUFFLE_REAL(v, mask) SHUFFLE_XOR(float, v, mask)
#endif

// A function waits here before its first write to scratch. Other items may still read the result of the previous
// call.
#define AFTER_READS barrier(CLK_LOCAL_MEM_FENCE)

// The items of a sub-group exchange their numbers, and all of them get the result of the sub-group. One item of each
// sub-group writes this result, and every item reads all of the results.
//
// All items must take part in each exchange. But `combine` is a macro and may evaluate an argument in only one branch
// of a condition. So the exchange comes first, and `combine` gets its result. With the exchange as the argument, PoCL 6
// gave NaN.
#if SHUFFLE_LANES > 1
#define SHUFFLE_STEP(combine, v, mask)        \
  if (SHUFFLE_LANES > mask && GROUP > mask) { \
    const REAL shown = SHUFFLE_REAL(v, mask); \
    v = combine(v, shown);                    \
  }
#define GROUP_TREE(name, combine)                                                                     \
  INLINE REAL name(REAL v, __local REAL* scratch) {                                                   \
    const int id = get_local_id(0);                                                                   \
    SHUFFLE_STEP(combine, v, 16)                                                                      \
    SHUFFLE_STEP(combine, v, 8)                                                                       \
    SHUFFLE_STEP(combine, v, 4)                                                                       \
    SHUFFLE_STEP(combine, v, 2)                                                                       \
    SHUFFLE_STEP(combine, v, 1)                                                                       \
    if (GROUP <= SHUFFLE_LANES) return v;                                                             \
    AFTER_READS;                                                                                      \
    if (id % SHUFFLE_LANES == 0) scratch[id / SHUFFLE_LANES] = v;                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    REAL all = scratch[0];                                                                            \
    _Pragma("unroll") for (int k = 1; k < GROUP / SHUFFLE_LANES; ++k) all = combine(all, scratch[k]); \
    return all;                                                                                       \
  }
#else
// Without exchanges, each of sixteen items combines every sixteenth number. Then all items combine the sixteen results.
// This takes three barriers. A tree that halves the numbers would take a barrier for each level.
#define TREE_WIDTH (GROUP < 16 ? GROUP : 16)
#define HALVE(combine, p, count)                                                                                  \
  _Pragma("unroll") for (int w = (count) / 2; w > 0; w /= 2) _Pragma("unroll") for (int k = 0; k < w; ++k) p[k] = \
      combine(p[k], p[k + w]);
#define GROUP_TREE(name, combine)                                                                           \
  INLINE REAL name(REAL v, __local REAL* scratch) {                                                         \
    const int id = get_local_id(0);                                                                         \
    AFTER_READS;                                                                                            \
    scratch[id] = v;                                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                           \
    if (GROUP > TREE_WIDTH) {                                                                               \
      if (id < TREE_WIDTH) {                                                                                \
        REAL p[GROUP / TREE_WIDTH];                                                                         \
        _Pragma("unroll") for (int k = 0; k < GROUP / TREE_WIDTH; ++k) p[k] = scratch[id + k * TREE_WIDTH]; \
        HALVE(combine, p, GROUP / TREE_WIDTH)                                                               \
        scratch[id] = p[0];                                                                                 \
      }                                                                                                     \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
    }                                                                                                       \
    REAL p[TREE_WIDTH];                                                                                     \
    _Pragma("unroll") for (int k = 0; k < TREE_WIDTH; ++k) p[k] = scratch[k];                               \
    HALVE(combine, p, TREE_WIDTH)                                                                           \
    return p[0];                                                                                            \
  }
#endif
