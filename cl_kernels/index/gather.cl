// Picks elements by index along an axis.
//
//   gather        y[o, j, c] = x[o, index[o, j, c], c]
//   index_select  y[o, j, c] = x[o, index[j], c]
//
// x is (outer, size, inner), y (outer, picked, inner). An index outside [0, size) gives `missing`, and is noted.
//
// The first two kernels see y as rows of `run` elements. If inner is 1, a row holds the picked elements of one o, and
// `step` is 0. Otherwise a row holds the inner elements of one (o, j), and `step` is 1. Element k of a row is read from
// column k * step of x. `per_outer` rows share an o. Element k of row r within its o has its index at o * index_outer +
// r * index_row + k * index_step.
//
//   gather_runs      CPU: a work-item takes successive elements
//   gather_elements  GPU: a work-item takes one element
//   select_rows      CPU: index_select of rows of inner > 1 elements, by vectors; a work-item takes successive blocks
//                    of `columns` elements of a row
#include "index/index.h"
#include "common/vector.h"

#define GATHER_PARAMETERS                                                                                           \
  __global const ELEMENT *restrict x, const ulong x_offset, __global const INDEX *restrict index,                   \
      const ulong index_offset, __global ELEMENT *restrict y, const ulong y_offset, const long rows, const long run, \
      const long per_outer, const long size, const long inner, const int step, const long index_outer,              \
      const long index_row, const int index_step, const ulong missing, FAULT_PARAMETERS
#define GATHER_ARGUMENTS                                                                                       \
  x, x_offset, index, index_offset, y, y_offset, rows, run, per_outer, size, inner, step, index_outer, index_row, \
      index_step, missing, FAULT_ARGUMENTS

CPU_KERNEL void gather_runs(GATHER_PARAMETERS) {
  const long elements = rows * run;
  long i = elements * (long)get_global_id(0) / (long)get_global_size(0);
  const long end = elements * ((long)get_global_id(0) + 1) / (long)get_global_size(0);
  long row = i / run;
  long first = i % run;
  while (i < end) {
    const long o = row / per_outer;
    __global const ELEMENT* from = x + x_offset + o * size * inner;
    __global const INDEX* picks = index + index_offset + o * index_outer + row % per_outer * index_row;
    __global ELEMENT* to = y + y_offset + row * run;
    const long count = min(run - first, end - i);
    int all_right = 1;
    if (inner == 1) {  // Simple enough for compilers to vectorise.
      for (long k = first; k < first + count; ++k) {
        const long pick = picks[k];
        const int is_right = IS_INDEX(pick, size);
        all_right &= is_right;
        to[k] = is_right ? from[pick] : (ELEMENT)missing;
      }
    } else {
      for (long k = first; k < first + count; ++k) {
        const long pick = picks[k * index_step];
        const int is_right = IS_INDEX(pick, size);
        all_right &= is_right;
        to[k] = is_right ? from[pick * inner + k] : (ELEMENT)missing;
      }
    }
    for (long k = first; !all_right; ++k) {
      const long pick = picks[k * (inner == 1 ? 1 : index_step)];
      all_right = !IS_INDEX(pick, size);
      if (all_right) NOTE_WRONG(pick, size);
    }
    i += count;
    first = 0;
    ++row;
  }
}

__kernel void gather_elements(GATHER_PARAMETERS) {
  const long i = get_global_id(0);
  if (i >= rows * run) return;
  const long row = i / run;
  const long k = i % run;
  const long o = row / per_outer;
  const long pick = index[index_offset + o * index_outer + row % per_outer * index_row + k * index_step];
  if (!IS_INDEX(pick, size)) NOTE_WRONG(pick, size);
  y[y_offset + i] = IS_INDEX(pick, size) ? x[x_offset + (o * size + pick) * inner + k * step] : (ELEMENT)missing;
}

CPU_KERNEL void select_rows(__global const ELEMENT* restrict x, const ulong x_offset,
                            __global const INDEX* restrict index, const ulong index_offset, __global ELEMENT* restrict y,
                            const ulong y_offset, const long rows, const long picked, const long size, const long inner,
                            const long columns, const ulong missing, FAULT_PARAMETERS) {
  const long blocks = (inner + columns - 1) / columns;
  const long units = rows * blocks;
  const long first = units * (long)get_global_id(0) / (long)get_global_size(0);
  const long end = units * ((long)get_global_id(0) + 1) / (long)get_global_size(0);
  if (first == end) return;
  long block = first % blocks;
  long row = first / blocks;
  long o = row / picked;
  long j = row % picked;
  for (long unit = first; unit < end; ++unit) {
    const long pick = index[index_offset + j];
    const long n = min(columns, inner - block * columns);
    __global ELEMENT* to = y + y_offset + row * inner + block * columns;
    if (IS_INDEX(pick, size)) {
      __global const ELEMENT* from = x + x_offset + (o * size + pick) * inner + block * columns;
      if (n >= VW) {
        for (long c = 0; c + VW <= n; c += VW) vstorev(vloadv(0, from + c), 0, to + c);
        vstorev(vloadv(0, from + n - VW), 0, to + n - VW);  // The last vector: it may move some elements a second time.
      } else {
        for (long c = 0; c < n; ++c) to[c] = from[c];
      }
    } else {
      NOTE_WRONG(pick, size);
      for (long c = 0; c < n; ++c) to[c] = (ELEMENT)missing;
    }
    if (++block < blocks) continue;
    block = 0;
    ++row;
    if (++j < picked) continue;
    j = 0;
    ++o;
  }
}
