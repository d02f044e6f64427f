// Transposes a square of VW x VW elements of MOVED in registers: lane j of rows[i] becomes what lane i of rows[j] was.
#include "common/vector.h"

#define movedv JOIN(MOVED, VW)

INLINE void transpose_square(movedv rows[VW]) {
  // Each pass interleaves row i with row i + VW/2 (a perfect shuffle). log2(VW) passes transpose the square.
#pragma unroll
  for (int pass = 1; pass < VW; pass *= 2) {
    movedv next[VW];
#pragma unroll
    for (int i = 0; i < VW / 2; ++i) {
      next[2 * i].even = rows[i].lo;
      next[2 * i].odd = rows[i + VW / 2].lo;
      next[2 * i + 1].even = rows[i].hi;
      next[2 * i + 1].odd = rows[i + VW / 2].hi;
    }
#pragma unroll
    for (int i = 0; i < VW; ++i) rows[i] = next[i];
  }
}
