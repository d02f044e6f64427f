// Random tensors. Work-item b makes elements 4 b … 4 b + 3 of `out` (contiguous, n elements) from block b of the draw.
#include "common/philox.h"
#include "common/box_muller.h"

// The upper 24 bits as a fraction in [0, 1): exact.
inline float4 random_fraction(uint4 words) { return convert_float4(words >> 8) * 5.9604644775390625e-8f; }

inline void store4(__global float* out, long block, long n, float4 v) {
  const long first = 4 * block;
  if (first + 4 <= n) {
    vstore4(v, block, out);
    return;
  }
  out[first] = v.x;
  if (first + 1 < n) out[first + 1] = v.y;
  if (first + 2 < n) out[first + 2] = v.z;
}

// low + width * fraction, kept at or below `top`, the largest float below the upper end.
__kernel void random_uniform(__global const ulong* restrict state, ulong state_offset, __global float* restrict out,
                             ulong out_offset, long n, float low, float width, float top) {
  const long block = get_global_id(0);
  if (4 * block >= n) return;
  const float4 u = random_fraction(random_block(state + state_offset, block));
  store4(out + out_offset, block, n, fmin(fma(u, (float4)(width), (float4)(low)), (float4)(top)));
}

// mean + deviation * z, z by Box-Muller from words (0, 1) and (2, 3) of the block.
__kernel void random_normal(__global const ulong* restrict state, ulong state_offset, __global float* restrict out,
                            ulong out_offset, long n, float mean, float deviation) {
  const long block = get_global_id(0);
  if (4 * block >= n) return;
  const uint4 words = random_block(state + state_offset, block);
  const float4 z = (float4)(box_muller(words.x, words.y), box_muller(words.z, words.w));
  store4(out + out_offset, block, n, fma(z, (float4)(deviation), (float4)(mean)));
}

// low + floor(word * range / 2^32), range <= 2^32.
#define RANDOM_INTEGER(name, type)                                                                                \
  __kernel void name(__global const ulong* restrict state, ulong state_offset, __global type* restrict out,       \
                     ulong out_offset, long n, long low, ulong range) {                                           \
    const long block = get_global_id(0);                                                                          \
    if (4 * block >= n) return;                                                                                   \
    const ulong4 scaled = (convert_ulong4(random_block(state + state_offset, block)) * range) >> 32;              \
    out += out_offset + 4 * block;                                                                                \
    out[0] = (type)(low + (long)scaled.x);                                                                        \
    if (4 * block + 1 < n) out[1] = (type)(low + (long)scaled.y);                                                 \
    if (4 * block + 2 < n) out[2] = (type)(low + (long)scaled.z);                                                 \
    if (4 * block + 3 < n) out[3] = (type)(low + (long)scaled.w);                                                 \
  }
RANDOM_INTEGER(random_i32, int)
RANDOM_INTEGER(random_i64, long)

// 1 where the upper 24 bits are below `threshold`, the probability times 2^24, else 0.
__kernel void random_bernoulli(__global const ulong* restrict state, ulong state_offset, __global float* restrict out,
                               ulong out_offset, long n, uint threshold) {
  const long block = get_global_id(0);
  if (4 * block >= n) return;
  const uint4 words = random_block(state + state_offset, block) >> 8;
  store4(out + out_offset, block, n, select((float4)(0.0f), (float4)(1.0f), words < threshold));
}

// One work-item, after each draw.
__kernel void random_advance(__global ulong* restrict state, ulong state_offset, ulong blocks) {
  state[state_offset + 1] += blocks;
}
