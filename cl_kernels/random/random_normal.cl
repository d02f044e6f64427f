// Normal numbers; see random/draw.h.
#include "random/draw.h"
#include "random/box_muller.h"

// mean + deviation * z. Box-Muller makes z from the words (0, 1) and (2, 3) of the block.
__kernel void random_normal(__global const ulong* restrict state, ulong state_offset, __global float* restrict out,
                            ulong out_offset, long n, float mean, float deviation) {
  const long block = get_global_id(0);
  if (4 * block >= n) return;
  const uint4 words = random_block(state + state_offset, block);
  const float4 z = (float4)(box_muller(words.x, words.y), box_muller(words.z, words.w));
  store4(out + out_offset, block, n, fma(z, (float4)(deviation), (float4)(mean)));
}
