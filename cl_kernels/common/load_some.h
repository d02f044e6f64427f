#include "common/vector.h"

// A vector of the first `lanes` elements of an array whose elements are `step` apart. The other lanes are zero.
INLINE floatv load_some(__global const float* from, int lanes, long step) {
  float values[VW];
  NO_UNROLL
  for (int lane = 0; lane < VW; ++lane) values[lane] = lane < lanes ? from[lane * step] : 0.0f;
  return vloadv(0, values);
}
