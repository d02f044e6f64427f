// Integers; see random/draw.h.
#include "random/draw.h"

// low + floor(word * range / 2^32) with range <= 2^32.
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
