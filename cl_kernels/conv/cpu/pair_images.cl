// Prepares images of whole numbers of one byte for conv/cpu/convolve_pairs.cl. Each WORD_NUMBERS channels become one
// image of words (product/pairs/numbers.h). It is padded with the zero point. Rows and columns with the same remainder
// modulo the stride become one image, a phase. So the windows of neighbouring pixels of a result are neighbours.
//
// x: (images, channels, height, width). y: (images, groups of channels, stride_h, stride_w, phase_h, phase_w), and one
// int behind it: the zero point that the words still have. Channels that x does not have are 0. A unit of work is a row
// of y.
#include "common/element.h"
#include "common/vector.h"
#include "conv/parameters.h"
#include "product/pairs/numbers.h"

#ifndef T
#define T uchar
#endif
#define T16 JOIN(T, 16)

// 16 words of the first `count` channels of a group. `stride` is 1 or 2.
INLINE int16 words_at(__global const T* from, long channel, int count, int stride, int base) {
  int16 words = 0;
#pragma unroll
  for (int i = 0; i < WORD_NUMBERS; ++i)
    if (i < count) {
      __global const T* at = from + i * channel;
      const T16 numbers = stride == 1 ? LOAD_16(T, at) : RESIZED(T16, LOAD_16(ushort, at));
      words |= (RESIZED(int16, numbers) - base & NUMBER_MASK) << i * NUMBER_BITS;
    }
  return words;
}

INLINE int word_at(__global const T* from, long channel, int count, int base) {
  int word = 0;
  NO_UNROLL
  for (int i = 0; i < count; ++i) word |= (from[i * channel] - base & NUMBER_MASK) << i * NUMBER_BITS;
  return word;
}

CPU_KERNEL void pair_images(__global const T* restrict x, const ulong x_offset, __global const T* restrict zero,
                            const ulong zero_offset, __global int* restrict y, const ulong y_offset,
                            const PairImageParameters p) {
  const long item = get_global_id(0), items = get_global_size(0);
  const int point = p.has_zero != 0 ? (int)zero[zero_offset] : 0, base = BASE_OF(T, point);
  const int groups = (p.channels + WORD_NUMBERS - 1) / WORD_NUMBERS,
            rows_of_group = p.stride_h * p.stride_w * p.phase_h;
  const long rows = (long)p.images * groups * rows_of_group, end_row = rows * (item + 1) / items;
  const long channel = (long)p.height * p.width;
  __global const T* end_of_x = x + x_offset + p.images * p.channels * channel;
  __global int* end_of_y = y + y_offset + end_row * p.phase_w;
  NO_UNROLL
  for (long unit = rows * item / items; unit < end_row; ++unit) {
    const int group = (int)(unit / rows_of_group % groups), row = (int)(unit % rows_of_group);
    const int count = min(WORD_NUMBERS, p.channels - group * WORD_NUMBERS);
    const int first_h = row / p.phase_h / p.stride_w, first_w = row / p.phase_h % p.stride_w;
    const int h = row % p.phase_h * p.stride_h + first_h - p.pad_h;
    // The columns of this row that are in the image.
    const int begin = clamp((p.pad_w - first_w + p.stride_w - 1) / p.stride_w, 0, p.phase_w);
    const int end = clamp((p.width + p.pad_w - first_w + p.stride_w - 1) / p.stride_w, begin, p.phase_w);
    const bool inside = h >= 0 && h < p.height;
    __global const T* line = x + x_offset +
                             (unit / rows_of_group / groups * p.channels + group * WORD_NUMBERS) * channel +
                             (inside ? h : 0) * p.width + first_w - p.pad_w;
    __global int* out = y + y_offset + unit * p.phase_w;
    const int first = inside ? begin : p.phase_w, last = inside ? end : p.phase_w;
    int padding = 0;
    NO_UNROLL
    for (int i = 0; i < count; ++i) padding |= (point - base & NUMBER_MASK) << i * NUMBER_BITS;
    int w = 0;
    NO_UNROLL
    for (; w < first; ++w) out[w] = padding;
    // A vector may pass the end of the row, because the rows behind it are written later.
    if (p.stride_w <= 2) {
      NO_UNROLL
      for (; w < last && out + w + 16 <= end_of_y && line + (count - 1) * channel + (w + 16) * p.stride_w <= end_of_x;
           w += 16)
        STORE_16(int, words_at(line + w * p.stride_w, channel, count, p.stride_w, base), out + w);
    }
    NO_UNROLL
    for (; w < last; ++w) out[w] = word_at(line + w * p.stride_w, channel, count, base);
    NO_UNROLL
    for (w = last; w < p.phase_w; ++w) out[w] = padding;
  }
  if (item == 0) y[y_offset + rows * p.phase_w] = point - base;
}
