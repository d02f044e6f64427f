// Sorts entries, key * 2^32 + position, by their keys. The least digit comes first, so that equal keys keep their
// order.

#include "sort/sizes.h"

// Shorter rows are sorted by insertion, because the 256 counts of each digit would take longer than the row.
#define SHORT_ROW 24

// Sorts a[0 … n-1]. Equal keys must be in the order of their positions. b has room for n entries, and counts has room
// for RADIX_COUNTS numbers.
static inline void radix_sort(__global ulong* a, __global ulong* b, const long n, __global uint* counts) {
  if (n < SHORT_ROW) {
    for (long i = 1; i < n; ++i) {
      const ulong entry = a[i];
      long at = i;
      for (; at > 0 && a[at - 1] > entry; --at) a[at] = a[at - 1];
      a[at] = entry;
    }
    return;
  }
  for (int i = 0; i < RADIX_COUNTS; ++i) counts[i] = 0;
  for (long i = 0; i < n; ++i) {
    const uint key = (uint)(a[i] >> 32);
    ++counts[key & 255];
    ++counts[256 + (key >> 8 & 255)];
    ++counts[512 + (key >> 16 & 255)];
    ++counts[768 + (key >> 24)];
  }
  __global ulong* from = a;
  __global ulong* to = b;
  for (int digit = 0; digit < 4; ++digit) {
    __global uint* next = counts + 256 * digit;
    const int shift = 32 + 8 * digit;
    if (next[from[0] >> shift & 255] == n) continue;  // All entries have the same digit, so nothing moves.
    uint before = 0;
    for (int i = 0; i < 256; ++i) {
      const uint count = next[i];
      next[i] = before;
      before += count;
    }
    for (long i = 0; i < n; ++i) {
      const ulong entry = from[i];
      to[next[entry >> shift & 255]++] = entry;
    }
    __global ulong* other = from;
    from = to;
    to = other;
  }
  if (from == b)
    for (long i = 0; i < n; ++i) a[i] = b[i];
}
