// Prepares images of whole numbers of one byte for conv/cpu/convolve_pairs.cl: subtracts the zero point, and pads with
// zeros. Rows and columns with the same remainder modulo the stride become one image, a phase. So the windows of
// neighbouring pixels of a result are neighbours.
//
// x: (planes, height, width). y: (planes, stride_h, stride_w, phase_h, phase_w). A unit of work is a plane.
#include "common/element.h"
#include "common/vector.h"
#include "conv/parameters.h"
#include "product/pairs/numbers.h"

#ifndef T
#define T uchar
#endif

// PoCL splits vload8 and vstore8 of these types.
typedef JOIN(T, 8) unaligned_bytes __attribute__((aligned(1)));
typedef short8 unaligned_shorts __attribute__((aligned(2)));

CPU_KERNEL void pair_images(__global const T* restrict x, const ulong x_offset, __global const T* restrict zero,
                            const ulong zero_offset, __global short* restrict y, const ulong y_offset,
                            const PairImageParameters p) {
  const long item = get_global_id(0), items = get_global_size(0);
  const short point = p.has_zero != 0 ? (short)zero[zero_offset] : (short)0;
  const int phases = p.stride_h * p.stride_w, phase = p.phase_h * p.phase_w;
  NO_UNROLL
  for (long plane = p.planes * item / items; plane < p.planes * (item + 1) / items; ++plane) {
    __global const T* from = x + x_offset + plane * p.height * p.width;
    __global short* to = y + y_offset + plane * phases * phase;
    NO_UNROLL
    for (int row = 0; row < phases * p.phase_h; ++row) {
      const int first_h = row / p.phase_h / p.stride_w, first_w = row / p.phase_h % p.stride_w;
      const int h = row % p.phase_h * p.stride_h + first_h - p.pad_h;
      // The columns of this row that are in the image.
      const int begin = clamp((p.pad_w - first_w + p.stride_w - 1) / p.stride_w, 0, p.phase_w);
      const int end = clamp((p.width + p.pad_w - first_w + p.stride_w - 1) / p.stride_w, begin, p.phase_w);
      const bool inside = h >= 0 && h < p.height;
      __global const T* line = from + (inside ? h : 0) * p.width + first_w - p.pad_w;
      __global short* out = to + (long)row * p.phase_w;
      const int first = inside ? begin : p.phase_w, last = inside ? end : p.phase_w;
      int w = 0;
      for (; w < first; ++w) out[w] = 0;
      if (p.stride_w == 1) {
        NO_UNROLL
        for (; w + 8 <= last; w += 8)
          *(__global unaligned_shorts*)(out + w) =
              numbers_of_8(RESIZED(short8, *(__global const unaligned_bytes*)(line + w)) - point);
      }
      NO_UNROLL
      for (; w < last; ++w) out[w] = number_of(line[w * p.stride_w] - point);
      for (; w < p.phase_w; ++w) out[w] = 0;
    }
  }
}
