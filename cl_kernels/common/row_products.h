// The products of VW rows of ROW_ELEMENT, by default STORED, with a column of floats, as a vector. The lanes are elements
// of a row first. The lanes of all rows are added up together. VW is 8.
#include "common/vector.h"
#include "common/element.h"
#include "common/unroll.h"

#ifndef ROW_ELEMENT
#define ROW_ELEMENT STORED
#endif

// The sum of neighbours: those of a, and then those of b.
#define NEIGHBOURS(a, b) ((floatv)((a).even + (a).odd, (b).even + (b).odd))

// The products of the rows with the first `length` elements of w.
INLINE floatv row_products(__global const ROW_ELEMENT* const* from, __global const float* w, const long length) {
  floatv sum[VW];
  UNROLL
  for (int r = 0; r < VW; ++r) sum[r] = 0.0f;
  long f = 0;
  NO_UNROLL
  for (; f + VW <= length; f += VW) {
    const floatv at = vloadv(0, w + f);
    UNROLL
    for (int r = 0; r < VW; ++r) sum[r] = FMA(LOAD_MANY(ROW_ELEMENT, from[r] + f), at, sum[r]);
  }
  if (f + 4 <= length) {
    const float4 at = vload4(0, w + f);
    UNROLL
    for (int r = 0; r < VW; ++r) sum[r].lo = FMA(LOAD_FOUR(ROW_ELEMENT, from[r] + f), at, sum[r].lo);
    f += 4;
  }
  NO_UNROLL
  for (; f < length; ++f) {
    UNROLL
    for (int r = 0; r < VW; ++r) sum[r].s0 = FMA(LOAD(ROW_ELEMENT, from[r], f), w[f], sum[r].s0);
  }
  const floatv a = NEIGHBOURS(NEIGHBOURS(sum[0], sum[1]), NEIGHBOURS(sum[2], sum[3]));
  const floatv b = NEIGHBOURS(NEIGHBOURS(sum[4], sum[5]), NEIGHBOURS(sum[6], sum[7]));
  return NEIGHBOURS(a, b);
}
