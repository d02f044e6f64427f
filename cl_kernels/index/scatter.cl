// Scatters by index along an axis, in place on y. Elements are combined in the order of the positions j, so that every
// run gives the same bits. COMBINE (combine.h) adds, multiplies, takes the larger or the smaller element, or keeps the
// last element.
//
//   scatter_elements  y[o, index[o, j, c], c] = COMBINE(y[o, index[o, j, c], c], src[o, j, c])
//   scatter_rows      y[o, index[j], c] = COMBINE(y[o, index[j], c], src[o, j, c])
//
// y is (outer, size, inner) and src is (outer, picked, inner), of type T and of SOURCE. An index outside [0, size)
// changes nothing and is noted. The index `skipped` changes nothing.
//
// `across` units of work share the inner columns of one o, so a unit owns some of these columns. In its columns it owns
// the destinations that are equal to its `part` modulo `parts` (a power of two). A unit walks through the positions
// first … end. If this is too much work for one launch, the host splits the positions over several launches. On a CPU a
// work-item takes several units. On a GPU it takes one unit, which is one element wide.
#include "index/index.h"
#ifndef T
#define T float
#endif
#include "common/vector.h"
#include "index/combine.h"

#define SCATTER_PARAMETERS                                                                                    \
  __global T *restrict y, const ulong y_offset, __global const INDEX *restrict index, const ulong index_offset, \
      __global const SOURCE *restrict src, const ulong src_offset, const long units, const long size,         \
      const long picked, const long inner, const long across, const long parts, const long skipped,           \
      const long first, const long end, FAULT_PARAMETERS

#define FOR_UNITS                                                                   \
  y += y_offset;                                                                    \
  index += index_offset;                                                            \
  src += src_offset;                                                                \
  const long last_unit = units * ((long)get_global_id(0) + 1) / (long)get_global_size(0); \
  for (long unit = units * (long)get_global_id(0) / (long)get_global_size(0); unit < last_unit; ++unit)

#define FIND_UNIT                              \
  const long part = unit & (parts - 1);        \
  const long block = unit / parts % across;    \
  const long o = unit / parts / across;        \
  const long left = inner * block / across;    \
  const long right = inner * (block + 1) / across;

// True if this unit owns the destination.
#define OWNS(to) (IS_INDEX(to, size) && ((to) & (parts - 1)) == part && (to) != skipped)

__kernel void scatter_elements(SCATTER_PARAMETERS) {
  FOR_UNITS {
    FIND_UNIT
    if (inner == 1) {
      for (long j = first; j < end; ++j) {
        const long to = index[o * picked + j];
        if (OWNS(to))
          y[o * size + to] = COMBINE(y[o * size + to], SOURCE_AT(src, o * picked + j));
        else if (!IS_INDEX(to, size))
          NOTE_WRONG(to, size);
      }
      continue;
    }
    for (long j = first; j < end; ++j) {
      const long at = (o * picked + j) * inner;
      for (long c = left; c < right; ++c) {
        const long to = index[at + c];
        const long place = (o * size + to) * inner + c;
        if (OWNS(to))
          y[place] = COMBINE(y[place], SOURCE_AT(src, at + c));
        else if (!IS_INDEX(to, size))
          NOTE_WRONG(to, size);
      }
    }
  }
}

__kernel void scatter_rows(SCATTER_PARAMETERS) {
  FOR_UNITS {
    FIND_UNIT
    for (long j = first; j < end; ++j) {
      const long to = index[j];
      if (!IS_INDEX(to, size)) NOTE_WRONG(to, size);
      if (!OWNS(to)) continue;
      __global T* row = y + (o * size + to) * inner;
      __global const SOURCE* more = src + (o * picked + j) * inner;
      long c = left;
#ifdef VECTORS
      for (; c + VW <= right; c += VW) {
        const JOIN(T, VW) old = vloadv(0, row + c), next = SOURCE_VECTOR(more + c);
        vstorev(COMBINE(old, next), 0, row + c);
      }
#endif
      for (; c < right; ++c) row[c] = COMBINE(row[c], SOURCE_AT(more, c));
    }
  }
}
