// The first k entries, in order, of rows (rows, n) of elements; `flip` reverses the order. CPU: a work-item takes one
// row after another.
//
// Elements are counted by the upper 11 bits of their keys (for floats: sign, exponent and two more bits). In a long row
// only the first elements are counted. The counts tell in which bin the k-th entry is. All entries up to this bin go
// into a list, and the list is sorted. It has a few more than k entries, unless many keys have the same upper bits. In
// a short row, all entries go into the list.
#include "sort/radix.h"
#include "sort/sort_key.h"

#define MIN_COUNTED 200
#define MAX_COUNTED 4096L
#define BIN(key) ((key) >> (32 - BIN_BITS))

// Lists the entries whose keys are not above `limit`, and returns their number.
static inline long list_entries(__global const MEMORY* from, const long n, const uint flip, const uint limit,
                                __global ulong* list) {
  long found = 0;
  long i = 0;
  // Every entry is stored, and the next entry overwrites an unwanted one.
  for (; i + 16 <= n; i += 16) {
    const uint16 some = KEYS(from, i) ^ flip;
    if (!any(some <= limit)) continue;
    uint keys[16];
    vstore16(some, 0, keys);
#pragma unroll
    for (int lane = 0; lane < 16; ++lane) {
      list[found] = ENTRY(keys[lane], i + lane);
      found += keys[lane] <= limit;
    }
  }
  for (; i < n; ++i) {
    const uint key = KEY(from, i) ^ flip;
    list[found] = ENTRY(key, i);
    found += key <= limit;
  }
  return found;
}

// For each work-item, `lists` has space for two rows of entries, and `counts` for BINS numbers. 0 < k <= n.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void select_rows(__global const MEMORY* restrict x, const ulong x_offset, __global ulong* restrict entries,
                 const ulong entries_offset, __global ulong* restrict lists, const ulong lists_offset,
                 __global uint* restrict counts, const ulong counts_offset, const long rows, const long n,
                 const long k, const uint flip) {
  const long item = get_global_id(0);
  counts += counts_offset + item * BINS;
  __global ulong* list = lists + lists_offset + 2 * item * n;
  const long end = rows * (item + 1) / (long)get_global_size(0);
  for (long row = rows * item / (long)get_global_size(0); row < end; ++row) {
    __global const MEMORY* from = x + x_offset + row * n;
    int last = BINS - 1;
    if (n >= MIN_COUNTED) {
      for (int i = 0; i < BINS; ++i) counts[i] = 0;
      const long counted = min(n, max(MAX_COUNTED, 16 * k));
      for (long i = 0; i < counted; ++i) ++counts[BIN(KEY(from, i) ^ flip)];
      last = 0;
      long before = counts[0];
      // llvmpipe computes this loop wrongly without its first condition.
      while (last < BINS - 1 && before < k) before += counts[++last];
    }
    const uint limit = ((uint)last << (32 - BIN_BITS)) | ((1u << (32 - BIN_BITS)) - 1);
    const long found = list_entries(from, n, flip, limit, list);
    radix_sort(list, list + n, found, counts);
    for (long i = 0; i < k; ++i) entries[entries_offset + row * k + i] = list[i];
  }
}
