// y[0 … words-1] = value.
//
// fill_words   CPU: a work-item writes `chunk` words; chunk is a multiple of 8
// fill_places  GPU: a work-item writes one word
#include "common/vector.h"

CPU_KERNEL void fill_words(__global ulong* restrict y, const ulong y_offset, const ulong value, const long words,
                           const long chunk) {
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, words);
  y += y_offset;
  long i = first;
  for (; i + 8 <= end; i += 8) vstore8((ulong8)(value), 0, y + i);
  NO_UNROLL
  for (; i < end; ++i) y[i] = value;
}

__kernel void fill_places(__global ulong* restrict y, const ulong y_offset, const ulong value, const long words) {
  const long i = get_global_id(0);
  if (i < words) y[y_offset + i] = value;
}
