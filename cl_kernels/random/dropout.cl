// Dropout of n contiguous elements of STORED: y = x scale where the element is kept, else 0 x, which is NaN for an
// infinite x. Gradients are treated in the same way. Element i is kept if the upper 24 bits of its random word are at
// least `threshold`. `threshold` is the probability of dropping times 2^24.
#include "common/element.h"
#include "random/philox.h"

// Work-item b takes elements 4 b … 4 b + 3. It stores the mask for backward, because the generator has moved on by
// then.
__kernel void dropout_forward(__global const ulong* restrict state, ulong state_offset,
                              __global const STORED* restrict x, ulong x_offset, __global STORED* restrict y,
                              ulong y_offset, __global uchar* restrict mask,
                              ulong mask_offset, long n, uint threshold, float scale) {
  const long block = get_global_id(0);
  const long first = 4 * block;
  if (first >= n) return;
  const uint4 words = random_block(state + state_offset, block) >> 8;
  x += x_offset;
  y += y_offset;
  mask += mask_offset;
  if (first + 4 <= n) {
    // The expression uses the sign of words - threshold. A converted comparison would be simpler, but oclgrind 21.10
    // stores 255 for its lanes.
    const uint4 kept = ((words - threshold) >> 31) ^ 1u;
    STORE_FOUR(STORED, y + first, LOAD_FOUR(STORED, x + first) * select((float4)(0.0f), (float4)(scale), kept != 0u));
    vstore4(convert_uchar4(kept), block, mask);
    return;
  }
  const uint word[4] = {words.x, words.y, words.z, words.w};
  for (int i = 0; first + i < n; ++i) {
    const int kept = word[i] >= threshold;
    STORE(STORED, y, first + i, LOAD(STORED, x, first + i) * (kept ? scale : 0.0f));
    mask[first + i] = kept;
  }
}

__kernel void dropout_backward(__global const STORED* restrict dy, ulong dy_offset, __global const uchar* restrict mask,
                               ulong mask_offset, __global STORED* restrict dx, ulong dx_offset, long n, float scale) {
  const long i = get_global_id(0);
  if (i < n) STORE(STORED, dx, dx_offset + i, LOAD(STORED, dy, dy_offset + i) * (mask[mask_offset + i] ? scale : 0.0f));
}
