// Quantises f32 to u8: the range of all numbers, extended to include 0, becomes 0 to 255. A unit of work is 1024
// numbers. NUMBER is uchar, or short for numbers minus their zero point.
#include "common/bytes.h"
#include "common/vector.h"

#ifndef NUMBER
#define NUMBER uchar
#endif
// PoCL gets declarations of the functions that the text names (lib/runtime/program/builtin_functions.h).
#define NUMBERS_OF_uchar convert_uchar8
#define NUMBERS_OF_short convert_short8
#define NUMBERS_OF(x) JOIN(NUMBERS_OF_, NUMBER)(x)

typedef JOIN(NUMBER, 16) unaligned_numbers __attribute__((aligned(sizeof(NUMBER))));

// The first number of a work-item's part, or of the part of the item behind it.
INLINE ulong part_of(ulong count, long item) {
  return min(count, (count + 1023) / 1024 * item / get_global_size(0) * 1024);
}

// ranges[2 i] and ranges[2 i + 1] are the least and the greatest number of part i, and 0.
CPU_KERNEL void part_ranges(__global const float* restrict x, const ulong x_offset, __global float* restrict ranges,
                            const ulong ranges_offset, const ulong count) {
  const long item = get_global_id(0);
  const ulong end = part_of(count, item + 1);
  ulong i = part_of(count, item);
  x += x_offset;
  float8 least[2] = {0.0f, 0.0f}, greatest[2] = {0.0f, 0.0f};
  NO_UNROLL
  for (; i + 16 <= end; i += 16) {
    const float8 first = vload8(0, x + i), second = vload8(0, x + i + 8);
    least[0] = first < least[0] ? first : least[0];
    least[1] = second < least[1] ? second : least[1];
    greatest[0] = first > greatest[0] ? first : greatest[0];
    greatest[1] = second > greatest[1] ? second : greatest[1];
  }
  float low[8], high[8];
  vstore8(fmin(least[0], least[1]), 0, low);
  vstore8(fmax(greatest[0], greatest[1]), 0, high);
  NO_UNROLL
  for (; i < end; ++i) {
    low[0] = fmin(low[0], x[i]);
    high[0] = fmax(high[0], x[i]);
  }
  NO_UNROLL
  for (int lane = 1; lane < 8; ++lane) {
    low[0] = fmin(low[0], low[lane]);
    high[0] = fmax(high[0], high[lane]);
  }
  ranges[ranges_offset + 2 * item] = low[0];
  ranges[ranges_offset + 2 * item + 1] = high[0];
}

// The launch has as many work-items as there are parts.
CPU_KERNEL void quantize_range(__global const float* restrict x, const ulong x_offset,
                               __global const float* restrict ranges, const ulong ranges_offset,
                               __global NUMBER* restrict y, const ulong y_offset, __global float* restrict scale_of_y,
                               const ulong scale_offset, __global uchar* restrict zero_of_y, const ulong zero_offset,
                               const ulong count) {
  const long item = get_global_id(0);
  const ulong end = part_of(count, item + 1);
  float low = 0.0f, high = 0.0f;
  NO_UNROLL
  for (long part = 0; part < (long)get_global_size(0); ++part) {
    low = fmin(low, ranges[ranges_offset + 2 * part]);
    high = fmax(high, ranges[ranges_offset + 2 * part + 1]);
  }
  const float range = high - low, scale = range == 0.0f ? 1.0f : range / 255.0f;
  const float zero = rint(clamp(-low / scale, 0.0f, 255.0f));
  if (item == 0) {
    scale_of_y[scale_offset] = scale;
    zero_of_y[zero_offset] = (uchar)zero;
  }
  const int point = sizeof(NUMBER) == 1 ? 0 : (int)zero;  // What is subtracted.
  x += x_offset;
  y += y_offset;
  ulong i = part_of(count, item);
  NO_UNROLL
  for (; i + 16 <= end; i += 16) {
    const int8 first = byte_of(vload8(0, x + i) / scale, zero, 0.0f);
    const int8 second = byte_of(vload8(0, x + i + 8) / scale, zero, 0.0f);
    *(__global unaligned_numbers*)(y + i) = (JOIN(NUMBER, 16))(NUMBERS_OF(first - point), NUMBERS_OF(second - point));
  }
  NO_UNROLL
  for (; i < end; ++i) y[i] = (NUMBER)((int)clamp(rint(x[i] / scale) + zero, 0.0f, 255.0f) - point);
}
