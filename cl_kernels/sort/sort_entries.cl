// Turns rows (rows, n) of elements into entries to sort, key * 2^32 + position, and back. A work-item takes the
// elements first … first + chunk - 1, counted row by row.
#include "sort/sort_key.h"

#define FOR_ELEMENTS(count, length)                                \
  const long first = get_global_id(0) * chunk;                     \
  const long end = min(first + chunk, count);                      \
  if (first >= end) return;                                        \
  long row = first / (length);                                     \
  long column = first % (length);                                  \
  for (long i = first; i < end; ++row, column = 0)                 \
    for (const long stop = min(i + (length) - column, end); i < stop; ++i, ++column)

__kernel void make_entries(__global const MEMORY* restrict x, const ulong x_offset, __global ulong* restrict entries,
                           const ulong entries_offset, const long count, const long n, const uint flip,
                           const long chunk) {
  FOR_ELEMENTS(count, n)
    entries[entries_offset + i] = ENTRY(KEY(x + x_offset, i) ^ flip, column);
}

// For 64-bit keys, after the sort by the first half: makes entries with the other half of the key. The position in an
// entry is the element's index in the first order.
__kernel void make_next_entries(__global const MEMORY* restrict x, const ulong x_offset,
                                __global const ulong* restrict sorted, const ulong sorted_offset,
                                __global ulong* restrict entries, const ulong entries_offset, const long count,
                                const long n, const uint flip, const long chunk) {
  FOR_ELEMENTS(count, n) {
    const long from = (long)(uint)sorted[sorted_offset + i];
    entries[entries_offset + i] = ENTRY(KEY(x + x_offset, row * n + from) ^ flip, column);
  }
}

// Turns indices in the first order into positions in the row.
__kernel void join_orders(__global const ulong* restrict sorted, const ulong sorted_offset,
                          __global ulong* restrict entries, const ulong entries_offset, const long count, const long n,
                          const long chunk) {
  FOR_ELEMENTS(count, n) {
    const ulong entry = entries[entries_offset + i];
    entries[entries_offset + i] = (uint)sorted[sorted_offset + row * n + (long)(uint)entry];
  }
}

// For the first k entries of rows of `width` entries: the entries' elements of x (rows, n), and their
// positions.
__kernel void take_elements(__global const MEMORY* restrict x, const ulong x_offset,
                            __global const ulong* restrict entries, const ulong entries_offset,
                            __global MEMORY* restrict values, const ulong values_offset, __global long* restrict indices,
                            const ulong indices_offset, const long count, const long k, const long width, const long n,
                            const long chunk) {
  FOR_ELEMENTS(count, k) {
    const long from = (long)(uint)entries[entries_offset + row * width + column];
    indices[indices_offset + i] = from;
    ((__global MOVED*)values)[values_offset + i] = ((__global const MOVED*)x)[x_offset + row * n + from];
  }
}
