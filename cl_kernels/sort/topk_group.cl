// The first k entries, in order, of rows (rows, n) of elements, k <= TILE; `flip` reverses the order. GPU: one group
// for each row.
//
// The k-th entry is found digit by digit, 8 bits at a time from the top. Each round counts the next digits of the
// entries that agree with the k-th entry so far. Then the entries up to the k-th are copied into local memory, in any
// order, and sorted. No two entries are equal.
#include "sort/bitonic.h"
#include "sort/sort_key.h"

#define DIGITS 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void select_by_group(__global const MEMORY* restrict x, const ulong x_offset, __global ulong* restrict entries,
                     const ulong entries_offset, const long n, const long k, const uint flip) {
  __local ulong tile[TILE];
  __local uint counts[DIGITS], sums[DIGITS];
  __local ulong prefix;
  __local uint wanted, found;
  __local int bits;  // The number of lower bits in which entries may differ from the k-th entry.
  const int id = get_local_id(0);
  x += x_offset + get_group_id(0) * n;
  entries += entries_offset + get_group_id(0) * k;
  if (id == 0) {
    prefix = 0;
    wanted = (uint)k;
    found = 0;
    bits = 64;
  }
  int done = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    for (int d = id; d < DIGITS; d += GROUP) counts[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong agreed = prefix;
    const uint rest = wanted;
    for (long i = id; i < n && !done; i += GROUP) {
      const ulong entry = ENTRY(KEY(x, i) ^ flip, i);
      // Shifts twice, because a shift by 64 bits is not defined.
      if (entry >> shift >> 8 == agreed) atomic_inc(&counts[entry >> shift & 255]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = id; d < DIGITS && !done; d += GROUP) {
      uint sum = 0;
      for (int lower = 0; lower <= d; ++lower) sum += counts[lower];
      sums[d] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = id; d < DIGITS && !done; d += GROUP) {
      const uint before = sums[d] - counts[d];
      if (before < rest && sums[d] >= rest) {
        prefix = agreed << 8 | (ulong)d;
        wanted = rest - before;
        bits = shift;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // All entries that agree so far are wanted, so their lower digits do not matter.
    done = done || wanted == counts[prefix & 255];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = id; i < TILE; i += GROUP) tile[i] = NO_ENTRY;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (long i = id; i < n; i += GROUP) {
    const ulong entry = ENTRY(KEY(x, i) ^ flip, i);
    if (entry >> bits <= prefix) tile[atomic_inc(&found)] = entry;
  }
  sort_tile(tile, TILE);
  for (int i = id; i < k; i += GROUP) entries[i] = tile[i];
}
