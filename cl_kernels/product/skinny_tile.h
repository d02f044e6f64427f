// A few rows of a product with a packed weight: the sums of one vector of columns.
//
//   tile[i] = sum over k of a_i[k] * b[k]        a_i = from[i], with elements `step` apart
//
// b is a vector of columns in a panel [k][NR] of gemm_pack. SKINNY_ROWS rows share each load of b. Even and odd k have
// sums of their own, because one chain of additions would be slower than memory.
#include "product/gemm_store.h"
#include "product/sizes.h"

INLINE void skinny_multiply(floatv tile[SKINNY_ROWS], __global const float* const from[SKINNY_ROWS], long step,
                            __global const float* b, int k) {
  floatv even[SKINNY_ROWS], odd[SKINNY_ROWS];
#pragma unroll
  for (int i = 0; i < SKINNY_ROWS; ++i) even[i] = odd[i] = (floatv)(0.0f);
  NO_UNROLL
  for (int at = 0; at + 2 <= k; at += 2) {
    const floatv first = ALIGNED_CONST(b + at * NR), second = ALIGNED_CONST(b + (at + 1) * NR);
#pragma unroll
    for (int i = 0; i < SKINNY_ROWS; ++i) {
      even[i] = FMA((floatv)(from[i][at * step]), first, even[i]);
      odd[i] = FMA((floatv)(from[i][(at + 1) * step]), second, odd[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < SKINNY_ROWS; ++i) {
    if (k % 2 != 0) even[i] = FMA((floatv)(from[i][(k - 1) * step]), ALIGNED_CONST(b + (k - 1) * NR), even[i]);
    tile[i] = even[i] + odd[i];
  }
}
