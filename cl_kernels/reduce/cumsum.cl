// y[j] = x[0] + … + x[j] along the middle axis of a contiguous (outer, n, inner). With REVERSE, y[j] = x[j] + … +
// x[n-1]. Sums have the type S: float, double, long or ulong. x and y have it too, or HALVES, which is half or bfloat.
//
//   The axis is cut into `blocks` blocks of `length` positions, counted from the start of the sum. A reduction and a
//   scan compute offsets[outer][b][inner] before: the sum over all blocks up to b. Blocks are numbered in the order of
//   memory.
//   sizes = outer, n, inner, blocks, length, outer * blocks * units of a block
//
// rows     CPU, inner = 1: a unit is a block; log2 VW shifts scan a vector.
// columns  CPU, inner > 1: a unit is a strip of VW columns of a block.
// items    GPU, inner > 1: a work-item takes one column of a block.
// groups   GPU, inner = 1: LOCAL work-items scan a block, LOCAL places at a time.
//
// Running sums of floats keep the rounding errors of their additions.
#ifndef VW
#define VW 16
#endif
#ifndef S
#define S float
#endif
#ifndef REVERSE
#define REVERSE 0
#endif
#ifndef LOCAL
#define LOCAL 128
#endif

#include "common/vector.h"
#include "common/element.h"

typedef S one;
typedef JOIN(S, VW) many;
typedef many unaligned_many __attribute__((aligned(sizeof(one))));
#define CONST_VECTOR(p) (*(__global const unaligned_many*)(p))
#ifdef HALVES
#define ELEMENT HALVES
#define ONE_AT(p, i) LOAD(HALVES, p, i)
#define STORE_ONE(p, i, v) STORE(HALVES, p, i, v)
#define VECTOR_AT(p) LOAD_MANY(HALVES, p)
#define STORE_VECTOR(p, v) STORE_MANY(HALVES, p, v)
#else
#define ELEMENT S
#define ONE_AT(p, i) (p)[i]
#define STORE_ONE(p, i, v) (p)[i] = (v)
#define VECTOR_AT(p) CONST_VECTOR(p)
#define STORE_VECTOR(p, v) *(__global unaligned_many*)(p) = (v)
#endif

#define N sizes.s1
#define INNER sizes.s2
#define BLOCKS sizes.s3
#define LENGTH sizes.s4
#define UNITS sizes.s5
// Position j, counted from the start of the sum.
#define PLACE(j) (REVERSE ? N - 1 - (j) : (j))

// total += v, and `lost` collects the rounding errors of this addition.
#ifdef INTEGER
#define ADD(T, total, lost, v) total += (v);
#define SUM_OF(total, lost) (total)
#else
#include "common/two_sum.h"
#define ADD TWO_SUM
#define SUM_OF WITH_LOST
#endif

// SHIFT_d(t, v): lane k of t becomes lane k - d of v (k + d with REVERSE). t must be 0 before. Compilers turn these
// assignments into one permutation.
#if VW == 16 && !REVERSE
#define SHIFT_1(t, v) t.s1 = v.s0, t.s23 = v.s12, t.s4567 = v.s3456, t.hi = v.s789abcde
#define SHIFT_2(t, v) t.s23 = v.s01, t.s4567 = v.s2345, t.hi = v.s6789abcd
#define SHIFT_4(t, v) t.s4567 = v.s0123, t.hi = v.s456789ab
#define SHIFT_8(t, v) t.hi = v.lo
#define LAST(v) v.sf
#elif VW == 16
#define SHIFT_1(t, v) t.lo = v.s12345678, t.s89ab = v.s9abc, t.scd = v.sde, t.se = v.sf
#define SHIFT_2(t, v) t.lo = v.s23456789, t.s89ab = v.sabcd, t.scd = v.sef
#define SHIFT_4(t, v) t.lo = v.s456789ab, t.s89ab = v.scdef
#define SHIFT_8(t, v) t.lo = v.hi
#define LAST(v) v.s0
#elif VW == 8 && !REVERSE
#define SHIFT_1(t, v) t.s1 = v.s0, t.s23 = v.s12, t.hi = v.s3456
#define SHIFT_2(t, v) t.s23 = v.s01, t.hi = v.s2345
#define SHIFT_4(t, v) t.hi = v.lo
#define LAST(v) v.s7
#elif VW == 8
#define SHIFT_1(t, v) t.lo = v.s1234, t.s45 = v.s56, t.s6 = v.s7
#define SHIFT_2(t, v) t.lo = v.s2345, t.s45 = v.s67
#define SHIFT_4(t, v) t.lo = v.hi
#define LAST(v) v.s0
#elif !REVERSE
#define SHIFT_1(t, v) t.s1 = v.s0, t.hi = v.s12
#define SHIFT_2(t, v) t.hi = v.lo
#define LAST(v) v.s3
#else
#define SHIFT_1(t, v) t.lo = v.s12, t.s2 = v.s3
#define SHIFT_2(t, v) t.lo = v.hi
#define LAST(v) v.s0
#endif
#define ADD_SHIFTED(v, SHIFT) \
  {                           \
    many t_ = (many)(0);      \
    SHIFT(t_, v);             \
    v += t_;                  \
  }

#define SCAN_PARAMETERS                                                                                    \
  __global const ELEMENT *restrict x, const ulong x_offset, __global const S *restrict offsets,            \
      const ulong offsets_offset, __global ELEMENT *restrict y, const ulong y_offset, const long8 sizes
#define SCAN_ARGUMENTS x, x_offset, offsets, offsets_offset, y, y_offset, sizes
// The offset of block b of outer o, column i.
#define OFFSET_OF(o, b, i) \
  offsets[offsets_offset + ((o) * (BLOCKS - 1) + (REVERSE ? BLOCKS - 1 - (b) : (b) - 1)) * INNER + (i)]

CPU_KERNEL void rows(SCAN_PARAMETERS) {
  const long item = get_global_id(0), items = get_global_size(0);
  for (long unit = UNITS * item / items; unit < UNITS * (item + 1) / items; ++unit) {
    const long o = unit / BLOCKS, b = unit % BLOCKS;
    __global const ELEMENT* from = x + x_offset + o * N;
    __global ELEMENT* to = y + y_offset + o * N;
    one total = b == 0 ? (one)(0) : OFFSET_OF(o, b, 0), lost = 0;
    const long end = min((b + 1) * LENGTH, N);
    long j = b * LENGTH;
    for (; j + VW <= end; j += VW) {
      const long at = REVERSE ? N - j - VW : j;
      many v = VECTOR_AT(from + at);
      ADD_SHIFTED(v, SHIFT_1)
      ADD_SHIFTED(v, SHIFT_2)
#if VW > 4
      ADD_SHIFTED(v, SHIFT_4)
#endif
#if VW > 8
      ADD_SHIFTED(v, SHIFT_8)
#endif
      STORE_VECTOR(to + at, v + SUM_OF(total, lost));
      ADD(one, total, lost, LAST(v))
    }
    for (; j < end; ++j) {
      const one v = ONE_AT(from, PLACE(j));
      ADD(one, total, lost, v)
      STORE_ONE(to, PLACE(j), SUM_OF(total, lost));
    }
  }
}

// Reads the first `left` lanes of a strip; the other lanes are 0. Reading and storing use different arrays, because
// PoCL 3.1 loses values of a shared array of four floats (docs/implementations.md).
#define DEFINE_READ_LANES(name, type, WHOLE, ONE)                                                \
  INLINE many name(__global const type* from, const int left) {                                  \
    if (left == VW) return WHOLE(from);                                                          \
    one lanes[VW];                                                                               \
    for (int lane = 0; lane < VW; ++lane) lanes[lane] = lane < left ? ONE(from, lane) : (one)(0); \
    return JOIN(vload, VW)(0, lanes);                                                            \
  }
#define OFFSET_AT(p, i) (p)[i]
DEFINE_READ_LANES(read_lanes, ELEMENT, VECTOR_AT, ONE_AT)
DEFINE_READ_LANES(read_offsets, S, CONST_VECTOR, OFFSET_AT)

INLINE void store_lanes(const many v, __global ELEMENT* to, const int left) {
  if (left == VW) {
    STORE_VECTOR(to, v);
    return;
  }
  one lanes[VW];
  JOIN(vstore, VW)(v, 0, lanes);
  for (int lane = 0; lane < left; ++lane) STORE_ONE(to, lane, lanes[lane]);
}

CPU_KERNEL void columns(SCAN_PARAMETERS) {
  const long item = get_global_id(0), items = get_global_size(0);
  const long strips = (INNER + VW - 1) / VW;
  for (long unit = UNITS * item / items; unit < UNITS * (item + 1) / items; ++unit) {
    const long o = unit / strips / BLOCKS, b = unit / strips % BLOCKS, i = unit % strips * VW;
    const int left = (int)min((long)VW, INNER - i);
    __global const ELEMENT* from = x + x_offset + o * N * INNER + i;
    __global ELEMENT* to = y + y_offset + o * N * INNER + i;
    many total = (many)(0), lost = (many)(0);
    if (b > 0) total = read_offsets(&OFFSET_OF(o, b, i), left);
    const long end = min((b + 1) * LENGTH, N);
    for (long j = b * LENGTH; j < end; ++j) {
      const long at = PLACE(j) * INNER;
      const many v = read_lanes(from + at, left);
      ADD(many, total, lost, v)
      store_lanes(SUM_OF(total, lost), to + at, left);
    }
  }
}

__kernel void items(SCAN_PARAMETERS) {
  const long unit = get_global_id(0);
  if (unit >= UNITS) return;
  const long i = unit % INNER, b = unit / INNER % BLOCKS, o = unit / INNER / BLOCKS;
  x += x_offset + o * N * INNER + i;
  y += y_offset + o * N * INNER + i;
  one total = b == 0 ? (one)(0) : OFFSET_OF(o, b, i), lost = 0;
  const long end = min((b + 1) * LENGTH, N);
  for (long j = b * LENGTH; j < end; ++j) {
    const one v = ONE_AT(x, PLACE(j) * INNER);
    ADD(one, total, lost, v)
    STORE_ONE(y, PLACE(j) * INNER, SUM_OF(total, lost));
  }
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))
void groups(SCAN_PARAMETERS) {
  __local one sums[2][LOCAL];
  const long unit = get_group_id(0);
  const int item = get_local_id(0);
  const long o = unit / BLOCKS, b = unit % BLOCKS;
  x += x_offset + o * N;
  y += y_offset + o * N;
  one total = b == 0 ? (one)(0) : OFFSET_OF(o, b, 0), lost = 0;
  const long end = min((b + 1) * LENGTH, N);
  for (long j = b * LENGTH; j < end; j += LOCAL) {
    const int exists = j + item < end;
    int now = 0;
    sums[0][item] = exists ? ONE_AT(x, PLACE(j + item)) : (one)(0);
    for (int apart = 1; apart < LOCAL; apart *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[1 - now][item] = sums[now][item] + (item >= apart ? sums[now][item - apart] : (one)(0));
      now = 1 - now;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const one v = sums[now][item], all = sums[now][LOCAL - 1];
    if (exists) STORE_ONE(y, PLACE(j + item), SUM_OF(total, lost) + v);
    ADD(one, total, lost, all)
    barrier(CLK_LOCAL_MEM_FENCE);  // The next iteration overwrites values that other items still read.
  }
}
