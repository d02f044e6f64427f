// Sorts parts of rows of entries (rows, n). Part p of a row starts at element p * length and has `length` elements. The
// last part may have fewer. For CPUs: a work-item sorts one part after another, in place. `scratch` has the shape of
// the entries, and `counts` has RADIX_COUNTS numbers for each work-item.
#include "sort/radix.h"

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_parts(__global ulong* restrict entries, const ulong entries_offset, __global ulong* restrict scratch,
                const ulong scratch_offset, __global uint* restrict counts, const ulong counts_offset, const long rows,
                const long n, const long length) {
  counts += counts_offset + get_global_id(0) * RADIX_COUNTS;
  const long parts = (n + length - 1) / length;
  const long units = rows * parts;
  const long end = units * ((long)get_global_id(0) + 1) / (long)get_global_size(0);
  for (long unit = units * (long)get_global_id(0) / (long)get_global_size(0); unit < end; ++unit) {
    const long first = unit % parts * length;
    const long at = unit / parts * n + first;
    radix_sort(entries + entries_offset + at, scratch + scratch_offset + at, min(length, n - first), counts);
  }
}
