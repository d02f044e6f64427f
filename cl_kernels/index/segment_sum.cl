// Scatters by index through a sorted list, and combines elements by COMBINE (combine.h). It is for many destinations
// and many positions. There a work-item that looked at every position would take too long.
//
// An entry of the list is destination * 2^32 + position. The list is sorted, so the positions of a destination follow
// each other in their order. y is (outer, size, inner) of type T, and src is (outer, positions, inner) of SOURCE.
//
//   y[o, d, c] = COMBINE(y[o, d, c], sum), where sum combines src[o, p, c] over the entries (d, p)
//
// sum_chunks    one work-item for CHUNK entries and a column (o, c). It finishes the destinations that are within the
//               chunk. If a destination crosses an end of the chunk, its sum goes to partial[o, chunk, 0, c] (begun in
//               an earlier chunk) or to partial[o, chunk, 1, c] (begun in this chunk)
// join_chunks   one work-item for a destination that crosses the end of a chunk: the work-item of the chunk in which
//               the destination begins
#include "index/combine.h"
#include "index/index.h"
#ifndef T
#define T float
#endif
#ifndef CHUNK
#define CHUNK 32
#endif

#define DESTINATION(entry) ((long)((entry) >> 32))

// Entry i belongs to element i of index (outer, picked, inner). Its destination is (o * size + index) * inner + c, or
// `none` if the element changes nothing.
__kernel void list_destinations(__global const INDEX* restrict index, const ulong index_offset,
                                __global ulong* restrict list, const ulong list_offset, const long count,
                                const long picked, const long inner, const long size, const long skipped,
                                const long none, FAULT_PARAMETERS) {
  const long i = get_global_id(0);
  if (i >= count) return;
  const long to = index[index_offset + i];
  if (!IS_INDEX(to, size)) NOTE_WRONG(to, size);
  const long destination =
      IS_INDEX(to, size) && to != skipped ? (i / inner / picked * size + to) * inner + i % inner : none;
  list[list_offset + i] = (ulong)destination << 32 | (ulong)i;
}

#define SUM_PARAMETERS                                                                                        \
  __global const ulong *restrict list, const ulong list_offset, __global const SOURCE *restrict src,          \
      const ulong src_offset, __global T *restrict y, const ulong y_offset, __global T *restrict partial,     \
      const ulong partial_offset, const long outer, const long count, const long size, const long inner,      \
      const long positions

// Neighbouring work-items have neighbouring columns, so that they read neighbouring elements.
#define FIND_CHUNK                                          \
  const long id = get_global_id(0);                         \
  const long chunks = (count + CHUNK - 1) / CHUNK;          \
  if (id >= outer * chunks * inner) return;                 \
  const long c = id % inner;                                \
  const long chunk = id / inner % chunks;                   \
  const long o = id / inner / chunks;                       \
  list += list_offset;                                      \
  y += y_offset + o * size * inner + c;                     \
  partial += partial_offset + o * chunks * 2 * inner + c;

__kernel void sum_chunks(SUM_PARAMETERS) {
  FIND_CHUNK
  src += src_offset + o * positions * inner + c;
  const long end = min((chunk + 1) * CHUNK, count);
  long i = chunk * CHUNK;
  int begun_earlier = i > 0 && DESTINATION(list[i - 1]) == DESTINATION(list[i]);
  while (i < end) {
    const long destination = DESTINATION(list[i]);
    if (destination >= size) return;  // From here on, entries change nothing.
    T sum = SOURCE_AT(src, (long)(uint)list[i] * inner);
    for (++i; i < end && DESTINATION(list[i]) == destination; ++i) {
      const T next = SOURCE_AT(src, (long)(uint)list[i] * inner);
      sum = COMBINE(sum, next);
    }
    const int goes_on = i == end && end < count && DESTINATION(list[i]) == destination;
    if (begun_earlier || goes_on)
      partial[(chunk * 2 + !begun_earlier) * inner] = sum;
    else
      y[destination * inner] = COMBINE(y[destination * inner], sum);
    begun_earlier = 0;
  }
}

__kernel void join_chunks(SUM_PARAMETERS) {
  FIND_CHUNK
  const long end = (chunk + 1) * CHUNK;
  if (end >= count) return;
  const long destination = DESTINATION(list[end - 1]);
  if (destination >= size || DESTINATION(list[end]) != destination) return;
  // The destination must begin in this chunk: after its first entry, or at its first entry.
  if (DESTINATION(list[chunk * CHUNK]) == destination && chunk > 0 &&
      DESTINATION(list[chunk * CHUNK - 1]) == destination)
    return;
  T sum = partial[(chunk * 2 + 1) * inner];
  for (long next = chunk + 1; next < chunks && DESTINATION(list[next * CHUNK]) == destination; ++next)
    sum = COMBINE(sum, partial[next * 2 * inner]);
  y[destination * inner] = COMBINE(y[destination * inner], sum);
}
