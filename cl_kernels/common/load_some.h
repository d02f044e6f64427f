#include "common/vector.h"
#include "common/element.h"

// Defines NAME(from, lanes, step): a vector of the first `lanes` elements of an array of `type` whose elements are
// `step` apart. The other lanes are zero.
#define DEFINE_LOAD_SOME(NAME, type)                                                                          \
  INLINE floatv NAME(__global const type* from, int lanes, long step) {                                       \
    float values[VW];                                                                                         \
    NO_UNROLL                                                                                                 \
    for (int lane = 0; lane < VW; ++lane) values[lane] = lane < lanes ? LOAD(type, from, lane * step) : 0.0f; \
    return vloadv(0, values);                                                                                 \
  }
DEFINE_LOAD_SOME(load_some, float)
