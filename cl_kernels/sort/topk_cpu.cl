// The first k entries, in order, of rows (rows, n) of elements; `flip` reverses the order. CPU: a work-item takes one
// row after another.
//
// Elements are counted by the upper 11 bits of their keys (for floats: sign, exponent and two more bits). In a long row
// only the first elements are counted. The counts tell in which bin the k-th entry is. All entries up to this bin go
// into a list, and the list is sorted. It has a few more than k entries, unless many keys have the same upper bits. In
// a short row, all entries go into the list. A few entries of a row that is not long are inserted one by one.
#include "sort/radix.h"
#include "sort/sort_key.h"

#define MIN_COUNTED 200
#define MAX_COUNTED 4096L
#define MAX_INSERTED 16
#define MAX_INSERTED_ROW 4096
#define BIN(key) ((key) >> (32 - BIN_BITS))

// Inserts an entry into a sorted list of at most k entries, of which `found` exist. Returns how many exist then.
static inline long insert_entry(__global ulong* list, const long found, const long k, const ulong entry) {
  if (found == k && entry > list[k - 1]) return found;
  long at = min(found, k - 1);
  for (; at > 0 && list[at - 1] > entry; --at) list[at] = list[at - 1];
  list[at] = entry;
  return min(found + 1, k);
}

// Finds the first k entries of a row, in order.
static inline void insert_entries(__global const MEMORY* from, const long n, const long k, const uint flip,
                                  __global ulong* list) {
  long found = 0;
  long i = 0;
  for (; i + 16 <= n; i += 16) {
    const uint16 some = KEYS(from, i) ^ flip;
    // Of equal keys, the first position comes first.
    if (found == k && !any(some < (uint)(list[k - 1] >> 32))) continue;
    uint keys[16];
    vstore16(some, 0, keys);
    for (int lane = 0; lane < 16; ++lane) found = insert_entry(list, found, k, ENTRY(keys[lane], i + lane));
  }
  for (; i < n; ++i) found = insert_entry(list, found, k, ENTRY(KEY(from, i) ^ flip, i));
}

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
    if (k <= MAX_INSERTED && n <= MAX_INSERTED_ROW) {
      insert_entries(from, n, k, flip, entries + entries_offset + row * k);
      continue;
    }
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
