// The elements of a quantised weight (quantized/codes.h) as floats: y is rows x (32 * groups). A work-item takes the
// groups first … first + chunk - 1, counted row by row.
#include "quantized/parameters.h"
#include "quantized/vectors.h"

__kernel void dequantize(__global const uchar* restrict codes, const ulong codes_offset,
                         __global const float* restrict scales, const ulong scales_offset,
                         __global const uchar* restrict zeros, const ulong zeros_offset, __global float* restrict y,
                         const ulong y_offset, const QuantizedParameters sizes, const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, sizes.rows * sizes.groups);
  codes += codes_offset;
  scales += scales_offset;
  zeros += zeros_offset;
  y += y_offset;
  for (long i = first; i < end; ++i) {
    const long group = i % sizes.groups;
    const long block = sizes.groups_of_block == 0 ? 2 * group : group / sizes.groups_of_block;
    const long at = i / sizes.groups * sizes.blocks + block;
    const long next = sizes.groups_of_block == 0 ? at + 1 : at;
    float16 low, high;
    decode_group(&low, &high, codes + i * GROUP_BYTES, FROM_END(ZERO_AT(zeros, at)),
                 ZERO_OF_HIGH(ZERO_AT(zeros, next)));
    vstore16(low * scales[at], 0, y + i * 32);
    vstore16(high * scales[next], 0, y + i * 32 + 16);
  }
}
