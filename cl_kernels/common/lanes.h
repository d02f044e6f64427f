// Loads and stores of vectors in which only the first n lanes exist. The tails of CPU loops need them. Elements are
// stored as STORED.
#include "common/vector.h"
#include "common/element.h"

// Lanes from n on become zero.
static inline floatv load_lanes(__global const STORED* p, int n) {
  if (n >= VW) return VLOAD(STORED, p);
  float lanes[VW];
  FEW_TIMES
  for (int i = 0; i < VW; ++i) lanes[i] = i < n ? LOAD(STORED, p, i) : 0.0f;
  return vloadv(0, lanes);
}

// Stores the first n lanes.
static inline void store_lanes(floatv v, int n, __global STORED* p) {
  if (n >= VW) {
    VSTORE(STORED, p, v);
    return;
  }
  float lanes[VW];
  vstorev(v, 0, lanes);
  FEW_TIMES
  for (int i = 0; i < n; ++i) STORE(STORED, p, i, lanes[i]);
}

static inline void store_int_lanes(intv v, int n, __global int* p) {
  if (n >= VW) {
    vstorev(v, 0, p);
    return;
  }
  int lanes[VW];
  vstorev(v, 0, lanes);
  FEW_TIMES
  for (int i = 0; i < n; ++i) p[i] = lanes[i];
}
