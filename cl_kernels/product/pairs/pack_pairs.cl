// Packs matrices of whole numbers of one byte, or of i16 from -255 to 255, minus their zero point, as pairs
// (product/pairs/pairs.h). A line is a row of A or a column of B. The numbers of a line are `step` elements apart.
// There are `count` matrices. Groups of `inner_count` matrices are `outer` elements apart, and the matrices of a group
// are `inner` elements apart.
//
// zero has one number, or one for each line of all matrices (zero_step is 0 or 1).
#include "product/pairs/pairs.h"

#ifndef T
#define T uchar
#endif

// The first element of a matrix.
INLINE __global const T* matrix_of(__global const T* x, long index, const PackPairsParameters* p) {
  return x + index / p->inner_count * p->outer + index % p->inner_count * p->inner;
}

INLINE int zero_of(__global const T* zero, long line, const PackPairsParameters* p) {
  return p->has_zero != 0 ? (int)zero[line * p->zero_step] : 0;
}

// Pair t of a line.
INLINE int pair_at(__global const T* line, int t, int zero, const PackPairsParameters* p) {
  const int first = line[2 * t * p->step] - zero;
  const int second = 2 * t + 1 < p->depth ? line[(2 * t + 1) * p->step] - zero : 0;
  return pair_of(first, second);
}

// A: (count, lines, pairs). A unit of work is a line.
CPU_KERNEL void pack_rows(__global const T* restrict x, const ulong x_offset, __global const T* restrict zero,
                          const ulong zero_offset, __global int* restrict y, const ulong y_offset,
                          const PackPairsParameters p) {
  const int pairs = (p.depth + 1) / 2;
  const long units = (long)p.count * p.lines, item = get_global_id(0), items = get_global_size(0);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long line = unit % p.lines;
    __global const T* from = matrix_of(x + x_offset, unit / p.lines, &p) + line * p.line;
    __global int* to = y + y_offset + unit * pairs;
    const int point = zero_of(zero + zero_offset, unit, &p);
    int t = 0;
    if (p.step == 1)
      for (; 2 * t + 16 <= p.depth; t += 8)
        STORE_16(short, numbers_of_16(RESIZED(short16, LOAD_16(T, from + 2 * t)) - (short)point),
                 (__global short*)(to + t));
    NO_UNROLL
    for (; t < pairs; ++t) to[t] = pair_at(from, t, point, &p);
  }
}

// B: (count, panels, pairs, 16). A unit of work is a panel.
CPU_KERNEL void pack_panels(__global const T* restrict x, const ulong x_offset, __global const T* restrict zero,
                            const ulong zero_offset, __global int* restrict y, const ulong y_offset,
                            const PackPairsParameters p) {
  const int pairs = (p.depth + 1) / 2, panels = (p.lines + 15) / 16;
  const long units = (long)p.count * panels, item = get_global_id(0), items = get_global_size(0);
  NO_UNROLL
  for (long unit = units * item / items; unit < units * (item + 1) / items; ++unit) {
    const long first = unit % panels * 16;
    __global const T* from = matrix_of(x + x_offset, unit / panels, &p) + first * p.line;
    __global int* to = y + y_offset + unit * pairs * 16;
    int points[16];
    NO_UNROLL
    for (int lane = 0; lane < 16; ++lane)
      points[lane] = zero_of(zero + zero_offset, unit / panels * p.lines + min(first + lane, (long)p.lines - 1), &p);
    const int16 point = vload16(0, points);
    const bool whole = p.line == 1 && first + 16 <= p.lines;
    NO_UNROLL
    for (int t = 0; t < pairs; ++t) {
      if (whole && 2 * t + 1 < p.depth) {
        __global const T* at = from + 2 * t * p.step;
        const int16 one = RESIZED(int16, LOAD_16(T, at)), two = RESIZED(int16, LOAD_16(T, at + p.step));
        STORE_16(int, pairs_of(one - point, two - point), to + t * 16);
        continue;
      }
      NO_UNROLL
      for (int lane = 0; lane < 16; ++lane)
        to[t * 16 + lane] = first + lane < p.lines ? pair_at(from + lane * p.line, t, points[lane], &p) : 0;
    }
  }
}
