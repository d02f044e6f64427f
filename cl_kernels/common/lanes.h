// Loads and stores of vectors in which only the first n lanes exist. The tails of CPU loops need them.
#include "common/vector.h"
#include "common/element.h"

// Defines LOAD_NAME(p, n), whose lanes from n on are zero, and STORE_NAME(v, n, p), which stores the first n lanes, for
// elements of `type`.
#define DEFINE_LANES(LOAD_NAME, STORE_NAME, type)                             \
  static inline floatv LOAD_NAME(__global const type* p, int n) {             \
    if (n >= VW) return VLOAD(type, p);                                       \
    float lanes[VW];                                                          \
    FEW_TIMES                                                                 \
    for (int i = 0; i < VW; ++i) lanes[i] = i < n ? LOAD(type, p, i) : 0.0f;  \
    return vloadv(0, lanes);                                                  \
  }                                                                           \
  static inline void STORE_NAME(floatv v, int n, __global type* p) {          \
    if (n >= VW) {                                                            \
      VSTORE(type, p, v);                                                     \
      return;                                                                 \
    }                                                                         \
    float lanes[VW];                                                          \
    vstorev(v, 0, lanes);                                                     \
    FEW_TIMES                                                                 \
    for (int i = 0; i < n; ++i) STORE(type, p, i, lanes[i]);                  \
  }
DEFINE_LANES(load_lanes, store_lanes, float)
#ifdef STORED_IS_FLOAT
#define load_elements load_lanes
#define store_elements store_lanes
#else
DEFINE_LANES(load_elements, store_elements, STORED)
#endif
