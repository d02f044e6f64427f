// Packs a matrix of STORED into row panels [ceil(m / width)][k][width] of PACKED, which is float or STORED. The rows
// past m are zero. width is a multiple of 4.
//
// Element (i, k) of a matrix is a[i * row + k0 * stride0 + k1 * stride1 + k2 * stride2] with
// k = (k0 * count1 + k1) * count2 + k2. There are three levels because the weights of a convolution's backward data are
// read in the order (output channel, r, s). A plain matrix has count1 = count2 = 1.
#include "common/vector.h"
#include "common/element.h"
#include "product/parameters.h"
#include "product/sizes.h"

#ifndef PACKED
#define PACKED float
#endif

// Packs four columns of four rows at a time. k is contiguous in each row.
INLINE void pack_contiguous(__global PACKED* dst, __global const STORED* a, long row_stride, int rows, int width,
                            int depth) {
  for (int i = 0; i < width; i += 4) {
    __global const STORED* row0 = a + min(i, rows - 1) * row_stride;
    __global const STORED* row1 = a + min(i + 1, rows - 1) * row_stride;
    __global const STORED* row2 = a + min(i + 2, rows - 1) * row_stride;
    __global const STORED* row3 = a + min(i + 3, rows - 1) * row_stride;
    const int4 valid = (int4)(i, i + 1, i + 2, i + 3) < rows;
    __global PACKED* out = dst + i;
    int k = 0;
    NO_UNROLL
    for (; k + 4 <= depth; k += 4, out += 4 * width) {
      const float4 v0 = LOAD_FOUR(STORED, row0 + k);
      const float4 v1 = LOAD_FOUR(STORED, row1 + k);
      const float4 v2 = LOAD_FOUR(STORED, row2 + k);
      const float4 v3 = LOAD_FOUR(STORED, row3 + k);
      STORE_FOUR(PACKED, out, as_float4(as_int4((float4)(v0.s0, v1.s0, v2.s0, v3.s0)) & valid));
      STORE_FOUR(PACKED, out + width, as_float4(as_int4((float4)(v0.s1, v1.s1, v2.s1, v3.s1)) & valid));
      STORE_FOUR(PACKED, out + 2 * width, as_float4(as_int4((float4)(v0.s2, v1.s2, v2.s2, v3.s2)) & valid));
      STORE_FOUR(PACKED, out + 3 * width, as_float4(as_int4((float4)(v0.s3, v1.s3, v2.s3, v3.s3)) & valid));
    }
    NO_UNROLL
    for (; k < depth; ++k, out += width)
      STORE_FOUR(PACKED, out, as_float4(as_int4((float4)(LOAD(STORED, row0, k), LOAD(STORED, row1, k),
                                                         LOAD(STORED, row2, k), LOAD(STORED, row3, k))) & valid));
  }
}

// Packs column k of up to `width` rows.
INLINE void pack_column(__global PACKED* dst, __global const STORED* a, long row_stride, int rows, int width) {
  int i = 0;
  if (row_stride == 1) {
    NO_UNROLL
    for (; i + VW <= rows; i += VW) STORE_MANY(PACKED, dst + i, LOAD_MANY(STORED, a + i));
    NO_UNROLL
    for (; i + 4 <= rows; i += 4) STORE_FOUR(PACKED, dst + i, LOAD_FOUR(STORED, a + i));
  }
  // One store for four rows. With a store for each element, the weights of a convolution took 16 % longer.
  NO_UNROLL
  for (; i + 4 <= rows; i += 4) {
    __global const STORED* at = a + i * row_stride;
    STORE_FOUR(PACKED, dst + i, (float4)(LOAD(STORED, at, 0), LOAD(STORED, at, row_stride),
                                         LOAD(STORED, at, 2 * row_stride), LOAD(STORED, at, 3 * row_stride)));
  }
  NO_UNROLL
  for (; i < width; ++i) STORE(PACKED, dst, i, i < rows ? LOAD(STORED, a, i * row_stride) : 0.0f);
}

// Packs with any strides and any number of rows. The panels are `panel` apart, and k starts at `first`.
INLINE void pack_strided(__global PACKED* dst, long panel, __global const STORED* a, long row_stride, int rows,
                         int width, int first, int depth, int count1, int count2, long stride0,
                         long stride1, long stride2) {
  int k2 = first % count2;
  int k1 = first / count2 % count1;
  __global const STORED* at = a + (long)(first / count2 / count1) * stride0 + k1 * stride1 + k2 * stride2;
  NO_UNROLL
  for (int k = 0; k < depth; ++k, dst += width) {
    __global PACKED* out = dst;
    NO_UNROLL
    for (int row = 0; row < rows; row += width, out += panel)
      pack_column(out, at + row * row_stride, row_stride, min(width, rows - row), width);
    at += stride2;
    if (++k2 == count2) {
      k2 = 0;
      at += stride1 - count2 * stride2;
      if (++k1 == count1) {
        k1 = 0;
        at += stride0 - count1 * stride1;
      }
    }
  }
}

CPU_KERNEL void gemm_pack(
    __global const STORED* restrict a, const ulong a_offset, __global PACKED* restrict packed, const ulong packed_offset,
    const PanelParameters p) {
  a += a_offset;
  packed += packed_offset;
  const int m = p.m, k = p.k, width = p.width, group = p.group;
  const int panels = (m + width - 1) / width;
  const int chunks = (k + PACK_CHUNK - 1) / PACK_CHUNK;
  const int groups = (panels + group - 1) / group;
  const long units = (long)p.count * groups * chunks;
  const long item = get_global_id(0);
  const long items = get_global_size(0);
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const int first = (int)(unit % chunks) * PACK_CHUNK;
    const int depth = min(PACK_CHUNK, k - first);
    const long index = unit / chunks / groups;
    const int panel = (int)(unit / chunks % groups) * group;
    const int row = panel * width;
    const int rows = min(group * width, m - row);
    __global const STORED* src = a + index * p.batch + row * p.row;
    __global PACKED* dst = packed + ((index * panels + panel) * k + first) * width;
    if (group == 1 && p.count1 == 1 && p.count2 == 1 && p.stride0 == 1)
      pack_contiguous(dst, src + first, p.row, rows, width, depth);
    else
      pack_strided(dst, (long)k * width, src, p.row, rows, width, first, depth, p.count1, p.count2, p.stride0, p.stride1,
                   p.stride2);
  }
}
