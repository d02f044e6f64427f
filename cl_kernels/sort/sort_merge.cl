// Sorts rows of entries (rows, n): runs in local memory, then merges of neighbouring runs.
//
// sort_tiles  a group sorts TILE / width runs of `width` entries (a power of two, at most TILE), in place
// merge_runs  merges pairs of runs of `run` entries from one buffer into the other. A work-item computes `piece`
//             neighbouring entries of the result and finds their start in both runs by bisection (Green, McColl, Bader
//             2012, "GPU merge path")
#include "sort/bitonic.h"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_tiles(__global ulong* restrict entries, const ulong entries_offset, const long rows, const long n,
                const int width) {
  __local ulong tile[TILE];
  const int runs_of_tile = TILE / width;
  const long runs_of_row = (n + width - 1) / width;
  entries += entries_offset;
  for (int i = get_local_id(0); i < TILE; i += GROUP) {
    const long run = (long)get_group_id(0) * runs_of_tile + i / width;
    const long column = run % runs_of_row * width + i % width;
    tile[i] = run < rows * runs_of_row && column < n ? entries[run / runs_of_row * n + column] : NO_ENTRY;
  }
  sort_tile(tile, width);
  for (int i = get_local_id(0); i < TILE; i += GROUP) {
    const long run = (long)get_group_id(0) * runs_of_tile + i / width;
    const long column = run % runs_of_row * width + i % width;
    if (run < rows * runs_of_row && column < n) entries[run / runs_of_row * n + column] = tile[i];
  }
}

__kernel void merge_runs(__global const ulong* restrict from, const ulong from_offset, __global ulong* restrict to,
                         const ulong to_offset, const long rows, const long n, const long run, const long piece) {
  const long pieces = (2 * run + piece - 1) / piece;
  const long pairs = (n + 2 * run - 1) / (2 * run);
  const long id = get_global_id(0);
  if (id >= rows * pairs * pieces) return;
  const long pair = id / pieces % pairs * 2 * run;
  const long start = id / pieces / pairs * n + pair;
  __global const ulong* a = from + from_offset + start;
  __global const ulong* b = a + run;
  const long a_count = min(run, n - pair);
  const long b_count = clamp(n - pair - run, 0L, run);
  const long first = id % pieces * piece;
  const long end = min(first + piece, a_count + b_count);
  if (first >= end) return;
  // Finds how many of the first `first` entries come from a.
  long least = max(first - b_count, 0L);
  long most = min(first, a_count);
  while (least < most) {
    const long middle = (least + most) / 2;
    if (a[middle] < b[first - 1 - middle])
      least = middle + 1;
    else
      most = middle;
  }
  long i = least;
  long j = first - least;
  to += to_offset + start;
  for (long k = first; k < end; ++k) {
    const int from_a = j >= b_count || (i < a_count && a[i] < b[j]);
    to[k] = from_a ? a[i] : b[j];
    i += from_a;
    j += !from_a;
  }
}
