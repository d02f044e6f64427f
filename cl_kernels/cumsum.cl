// y[j] = x[0] + … + x[j] along the middle axis of (outer, n, inner), contiguous; with REVERSE y[j] = x[j] + … + x[n-1].
// S is the type, float or long.
//
//   The axis is cut into `blocks` of `length` places, counted from where the sum begins. The sum over all blocks up to b
//   is offsets[outer][b][inner] (in memory's order of the blocks), made by a reduction and a scan of their own.
//   sizes = outer, n, inner, blocks, length, outer * blocks * units of a block
//
// rows     CPU, inner = 1: a unit is a block; a vector is scanned by log2 VW shifts.
// columns  CPU, inner > 1: a unit is a strip of VW columns of a block.
// items    GPU, inner > 1: a work-item takes one column of a block.
// groups   GPU, inner = 1: LOCAL work-items scan a block, LOCAL places at a time.
//
// Running sums of floats carry what their additions lose.
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

typedef S one;
typedef JOIN(S, VW) many;
typedef many unaligned_many __attribute__((aligned(sizeof(one))));
#define VECTOR(p) (*(__global unaligned_many*)(p))
#define CONST_VECTOR(p) (*(__global const unaligned_many*)(p))

#define N sizes.s1
#define INNER sizes.s2
#define BLOCKS sizes.s3
#define LENGTH sizes.s4
#define UNITS sizes.s5
// Place j counts from where the sum begins.
#define PLACE(j) (REVERSE ? N - 1 - (j) : (j))

// total += v; what is lost goes to `lost`.
#ifdef INTEGER
#define ADD(T, total, lost, v) total += v;
#else
#define ADD(T, total, lost, v)                       \
  {                                                  \
    const T was_ = total;                            \
    total += v;                                      \
    const T part_ = total - was_;                    \
    lost += (was_ - (total - part_)) + ((v) - part_); \
  }
#endif
// Infinity has no rounding error, but infinity - infinity was taken for one.
#ifdef INTEGER
#define WITH_LOST(total, lost) (total)
#else
#define WITH_LOST(total, lost) (isfinite(total) ? (total) + (lost) : (total))
#endif

// Lane k of SHIFT_d(v) is lane k - d of v (k + d with REVERSE), 0 where there is none.
#if VW == 16 && !REVERSE
#define SHIFT_1(v) (many)(0, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se)
#define SHIFT_2(v) (many)(0, 0, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd)
#define SHIFT_4(v) (many)(0, 0, 0, 0, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb)
#define SHIFT_8(v) (many)(0, 0, 0, 0, 0, 0, 0, 0, v.lo)
#define LAST(v) v.sf
#elif VW == 16
#define SHIFT_1(v) (many)(v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf, 0)
#define SHIFT_2(v) (many)(v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf, 0, 0)
#define SHIFT_4(v) (many)(v.s4, v.s5, v.s6, v.s7, v.s8, v.s9, v.sa, v.sb, v.sc, v.sd, v.se, v.sf, 0, 0, 0, 0)
#define SHIFT_8(v) (many)(v.hi, 0, 0, 0, 0, 0, 0, 0, 0)
#define LAST(v) v.s0
#elif VW == 8 && !REVERSE
#define SHIFT_1(v) (many)(0, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6)
#define SHIFT_2(v) (many)(0, 0, v.s0, v.s1, v.s2, v.s3, v.s4, v.s5)
#define SHIFT_4(v) (many)(0, 0, 0, 0, v.lo)
#define LAST(v) v.s7
#elif VW == 8
#define SHIFT_1(v) (many)(v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, 0)
#define SHIFT_2(v) (many)(v.s2, v.s3, v.s4, v.s5, v.s6, v.s7, 0, 0)
#define SHIFT_4(v) (many)(v.hi, 0, 0, 0, 0)
#define LAST(v) v.s0
#elif !REVERSE
#define SHIFT_1(v) (many)(0, v.s0, v.s1, v.s2)
#define SHIFT_2(v) (many)(0, 0, v.lo)
#define LAST(v) v.s3
#else
#define SHIFT_1(v) (many)(v.s1, v.s2, v.s3, 0)
#define SHIFT_2(v) (many)(v.hi, 0, 0)
#define LAST(v) v.s0
#endif

#define SCAN_PARAMETERS                                                                                    \
  __global const S *restrict x, const ulong x_offset, __global const S *restrict offsets,                  \
      const ulong offsets_offset, __global S *restrict y, const ulong y_offset, const long8 sizes
// Block b of outer o, column i.
#define OFFSET_OF(o, b, i) \
  offsets[offsets_offset + ((o) * (BLOCKS - 1) + (REVERSE ? BLOCKS - 1 - (b) : (b) - 1)) * INNER + (i)]

CPU_KERNEL void rows(SCAN_PARAMETERS) {
  const long item = get_global_id(0), items = get_global_size(0);
  for (long unit = UNITS * item / items; unit < UNITS * (item + 1) / items; ++unit) {
    const long o = unit / BLOCKS, b = unit % BLOCKS;
    __global const S* from = x + x_offset + o * N;
    __global S* to = y + y_offset + o * N;
    one total = b == 0 ? (one)(0) : OFFSET_OF(o, b, 0), lost = 0;
    const long end = min((b + 1) * LENGTH, N);
    long j = b * LENGTH;
    for (; j + VW <= end; j += VW) {
      const long at = REVERSE ? N - j - VW : j;
      many v = CONST_VECTOR(from + at);
      v += SHIFT_1(v);
      v += SHIFT_2(v);
#if VW > 4
      v += SHIFT_4(v);
#endif
#if VW > 8
      v += SHIFT_8(v);
#endif
      VECTOR(to + at) = v + WITH_LOST(total, lost);
      ADD(one, total, lost, LAST(v))
    }
    for (; j < end; ++j) {
      const one v = from[PLACE(j)];
      ADD(one, total, lost, v)
      to[PLACE(j)] = WITH_LOST(total, lost);
    }
  }
}

CPU_KERNEL void columns(SCAN_PARAMETERS) {
  const long item = get_global_id(0), items = get_global_size(0);
  const long strips = (INNER + VW - 1) / VW;
  for (long unit = UNITS * item / items; unit < UNITS * (item + 1) / items; ++unit) {
    const long o = unit / strips / BLOCKS, b = unit / strips % BLOCKS, i = unit % strips * VW;
    const int left = (int)min((long)VW, INNER - i);
    __global const S* from = x + x_offset + o * N * INNER + i;
    __global S* to = y + y_offset + o * N * INNER + i;
    one lanes[VW];
    for (int lane = 0; lane < VW; ++lane) lanes[lane] = b == 0 || lane >= left ? (one)(0) : OFFSET_OF(o, b, i + lane);
    many total = JOIN(vload, VW)(0, lanes), lost = (many)(0);
    const long end = min((b + 1) * LENGTH, N);
    for (long j = b * LENGTH; j < end; ++j) {
      const long at = PLACE(j) * INNER;
      many v;
      if (left == VW) {
        v = CONST_VECTOR(from + at);
      } else {
        for (int lane = 0; lane < left; ++lane) lanes[lane] = from[at + lane];
        v = JOIN(vload, VW)(0, lanes);
      }
      ADD(many, total, lost, v)
      const many sum = WITH_LOST(total, lost);
      if (left == VW) {
        VECTOR(to + at) = sum;
      } else {
        JOIN(vstore, VW)(sum, 0, lanes);
        for (int lane = 0; lane < left; ++lane) to[at + lane] = lanes[lane];
      }
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
    const one v = x[PLACE(j) * INNER];
    ADD(one, total, lost, v)
    y[PLACE(j) * INNER] = WITH_LOST(total, lost);
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
    sums[0][item] = exists ? x[PLACE(j + item)] : (one)(0);
    for (int apart = 1; apart < LOCAL; apart *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      sums[1 - now][item] = sums[now][item] + (item >= apart ? sums[now][item - apart] : (one)(0));
      now = 1 - now;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const one v = sums[now][item], all = sums[now][LOCAL - 1];
    if (exists) y[PLACE(j + item)] = WITH_LOST(total, lost) + v;
    ADD(one, total, lost, all)
    barrier(CLK_LOCAL_MEM_FENCE);  // The next round writes what others still read.
  }
}
