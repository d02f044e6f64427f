// Random tensors. Work-item b makes elements 4 b … 4 b + 3 of `out` (contiguous, n elements) from block b of the draw.
// Each kind of numbers has a file of its own, because a program takes as long to compile as all of its kernels.
#include "random/philox.h"

// The upper 24 bits as a fraction in [0, 1), which is exact.
static inline float4 random_fraction(uint4 words) { return convert_float4(words >> 8) * 5.9604644775390625e-8f; }

static inline void store4(__global float* out, long block, long n, float4 v) {
  const long first = 4 * block;
  if (first + 4 <= n) {
    vstore4(v, block, out);
    return;
  }
  out[first] = v.x;
  if (first + 1 < n) out[first + 1] = v.y;
  if (first + 2 < n) out[first + 2] = v.z;
}
