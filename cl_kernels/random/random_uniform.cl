// Uniform numbers, and the kernel that advances the generator; see random/draw.h. They share a file, because every
// initialisation needs both.
#include "random/draw.h"

// low + width * fraction, but at most `top`, which is the largest float below the upper end.
__kernel void random_uniform(__global const ulong* restrict state, ulong state_offset, __global float* restrict out,
                             ulong out_offset, long n, float low, float width, float top) {
  const long block = get_global_id(0);
  if (4 * block >= n) return;
  const float4 u = random_fraction(random_block(state + state_offset, block));
  store4(out + out_offset, block, n, fmin(fma(u, (float4)(width), (float4)(low)), (float4)(top)));
}

// Runs as one work-item, after each draw.
__kernel void random_advance(__global ulong* restrict state, ulong state_offset, ulong blocks) {
  state[state_offset + 1] += blocks;
}
