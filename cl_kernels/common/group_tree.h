// GROUP_TREE(name, combine): defines name(v, scratch), the combination of v over all GROUP work-items of a work-group, a
// power of two; every item gets it, in an order that is always the same. All must get there; scratch is local, of GROUP
// numbers.
#include "common/swap.h"

// Before a function's first write to scratch: the result before has been read by all.
#define AFTER_READS barrier(CLK_LOCAL_MEM_FENCE)

// Within a sub-group by exchange, after which all its items have the result; one of each writes it, and all items read
// all of these. All items must make each exchange: `combine` is a macro and may name its arguments in one branch of a
// condition, so it gets the number and not the exchange. PoCL 6 gave NaN otherwise.
#if SWAP_LANES > 1
#define SWAP_STEP(combine, v, mask)              \
  if (SWAP_LANES > mask && GROUP > mask) {       \
    const float shown = SWAP(float, v, mask);    \
    v = combine(v, shown);                       \
  }
#define GROUP_TREE(name, combine)                                                                   \
  INLINE float name(float v, __local float* scratch) {                                              \
    const int id = get_local_id(0);                                                                 \
    SWAP_STEP(combine, v, 16)                                                                       \
    SWAP_STEP(combine, v, 8)                                                                        \
    SWAP_STEP(combine, v, 4)                                                                        \
    SWAP_STEP(combine, v, 2)                                                                        \
    SWAP_STEP(combine, v, 1)                                                                        \
    if (GROUP <= SWAP_LANES) return v;                                                              \
    AFTER_READS;                                                                                    \
    if (id % SWAP_LANES == 0) scratch[id / SWAP_LANES] = v;                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                   \
    float all = scratch[0];                                                                         \
    _Pragma("unroll") for (int k = 1; k < GROUP / SWAP_LANES; ++k) all = combine(all, scratch[k]);  \
    return all;                                                                                     \
  }
#else
// Elsewhere sixteen items bring together what lies sixteen apart, and all items these sixteen: three barriers, where
// halving again and again takes one for each half.
#define TREE_WIDTH (GROUP < 16 ? GROUP : 16)
#define HALVE(combine, p, count)                                   \
  _Pragma("unroll") for (int w = (count) / 2; w > 0; w /= 2)       \
    _Pragma("unroll") for (int k = 0; k < w; ++k) p[k] = combine(p[k], p[k + w]);
#define GROUP_TREE(name, combine)                                                                                  \
  static inline float name(float v, __local float* scratch) {                                                      \
    const int id = get_local_id(0);                                                                                \
    AFTER_READS;                                                                                                   \
    scratch[id] = v;                                                                                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
    if (GROUP > TREE_WIDTH) {                                                                                      \
      if (id < TREE_WIDTH) {                                                                                       \
        float p[GROUP / TREE_WIDTH];                                                                               \
        _Pragma("unroll") for (int k = 0; k < GROUP / TREE_WIDTH; ++k) p[k] = scratch[id + k * TREE_WIDTH];        \
        HALVE(combine, p, GROUP / TREE_WIDTH)                                                                      \
        scratch[id] = p[0];                                                                                        \
      }                                                                                                            \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                                \
    }                                                                                                              \
    float p[TREE_WIDTH];                                                                                           \
    _Pragma("unroll") for (int k = 0; k < TREE_WIDTH; ++k) p[k] = scratch[k];                                      \
    HALVE(combine, p, TREE_WIDTH)                                                                                  \
    return p[0];                                                                                                   \
  }
#endif
