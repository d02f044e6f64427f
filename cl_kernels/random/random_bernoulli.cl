// Zeros and ones; see random/draw.h.
#include "random/draw.h"

// 1 where the upper 24 bits of the word are below `threshold`, else 0. `threshold` is the probability times 2^24.
__kernel void random_bernoulli(__global const ulong* restrict state, ulong state_offset, __global float* restrict out,
                               ulong out_offset, long n, uint threshold) {
  const long block = get_global_id(0);
  if (4 * block >= n) return;
  const uint4 words = random_block(state + state_offset, block) >> 8;
  store4(out + out_offset, block, n, select((float4)(0.0f), (float4)(1.0f), words < threshold));
}
