// Sorts entries, key * 2^32 + position, by their keys. The least digit comes first, so that equal keys keep their
// order. Short rows are sorted by merging.

#include "sort/sizes.h"

// In shorter rows, clearing and adding up the 256 counts of each digit would take longer than merging.
#define SHORT_ROW 320
#define RUN 8

static inline void sort_by_insertion(__global ulong* a, const long n) {
  for (long i = 1; i < n; ++i) {
    const ulong entry = a[i];
    long at = i;
    for (; at > 0 && a[at - 1] > entry; --at) a[at] = a[at - 1];
    a[at] = entry;
  }
}

// Merges a[first … middle-1] and a[middle … end-1] into b[first … end-1].
static inline void merge_into(__global ulong* b, __global const ulong* a, const long first, const long middle,
                              const long end) {
  long i = first, j = middle, k = first;
  while (i < middle && j < end) {
    const ulong x = a[i], y = a[j];
    const int is_x = x < y;
    b[k++] = is_x ? x : y;
    i += is_x;
    j += !is_x;
  }
  while (i < middle) b[k++] = a[i++];
  while (j < end) b[k++] = a[j++];
}

// Sorts a[0 … n-1]. b has room for n entries.
static inline void merge_sort(__global ulong* a, __global ulong* b, const long n) {
  for (long first = 0; first < n; first += RUN) sort_by_insertion(a + first, min((long)RUN, n - first));
  __global ulong* from = a;
  __global ulong* to = b;
  for (long run = RUN; run < n; run *= 2) {
    for (long first = 0; first < n; first += 2 * run)
      merge_into(to, from, first, min(first + run, n), min(first + 2 * run, n));
    __global ulong* other = from;
    from = to;
    to = other;
  }
  if (from == b)
    for (long i = 0; i < n; ++i) a[i] = b[i];
}

// Sorts a[0 … n-1]. Equal keys must be in the order of their positions. b has room for n entries, and counts has room
// for RADIX_COUNTS numbers.
static inline void radix_sort(__global ulong* a, __global ulong* b, const long n, __global uint* counts) {
  if (n < SHORT_ROW) {
    merge_sort(a, b, n);
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
