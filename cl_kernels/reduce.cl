// y[o] = combine of x over the reduced axes, divided by `divisor`, for every output o; or of a part of them.
//
//   o counts the kept axes, r the reduced ones, outermost first; element (o, r) of x lies at the sum of
//   index * stride over both lists of axes. OP chooses SUM, MAX or MIN; MAX and MIN give NaN where there is one.
//   With several parts (the second dimension of the range) part p combines the r in [p * reduced / parts,
//   (p + 1) * reduced / parts) and writes y[p * outputs + o]: a second launch combines the parts.
//
// rows     CPU: a work-item takes `chunk` outputs and walks along r, in vectors where the last reduced axis is
//          contiguous.
// columns  CPU: the same where the last kept axis is contiguous: the lanes of a vector are neighbouring outputs.
// items    GPU: a work-item takes one output; neighbouring items read neighbouring elements where the last kept axis is
//          contiguous.
// groups   GPU: a work-group of LOCAL items takes one output; a tree in local memory joins their results.
//
// Sums are added up in blocks, blocks of blocks, and those: the error grows with the number of steps at each level,
// some 16 + 64 + n / 1024, not with n.
#define SUM 0
#define MAX 1
#define MIN 2
#ifndef OP
#define OP SUM
#endif
#ifndef VW
#define VW 16
#endif
#ifndef LOCAL
#define LOCAL 128
#endif

#include "common/vector.h"

#if OP == SUM
#define IDENTITY 0.0f
#define COMBINE(a, b) ((a) + (b))
#elif OP == MAX
#define IDENTITY (-INFINITY)
#define COMBINE(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#else
#define IDENTITY INFINITY
#define COMBINE(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#endif

// Three levels of W values each: 16 steps of a block are one of the middle, 64 of those are one of the top.
//
// Positions are worked out from numbers: a version that walked with indices kept in a struct was wrong on rusticl (llvmpipe
// 22.3) as soon as there were two work-groups. Why is not known; large private arrays alone work there.
#define EACH(w, W) _Pragma("unroll") for (int w = 0; w < W; ++w)
#define BLOCK 16
#define BLOCKS 64
#define LEVELS(type, W) \
  type block[W], middle[W], top[W]; \
  int steps = 0; \
  EACH(w, W) block[w] = middle[w] = top[w] = (type)(IDENTITY);
#define COUNT_STEP(type, W) \
  if ((++steps & (BLOCK - 1)) == 0) { \
    EACH(w, W) { \
      middle[w] = COMBINE(middle[w], block[w]); \
      block[w] = (type)(IDENTITY); \
    } \
    if (steps == BLOCK * BLOCKS) { \
      EACH(w, W) { \
        top[w] = COMBINE(top[w], middle[w]); \
        middle[w] = (type)(IDENTITY); \
      } \
      steps = 0; \
    } \
  }
// Value w of all levels.
#define JOINED(w) COMBINE(top[w], COMBINE(middle[w], block[w]))

long component(const long8 v, const int k) {
  long all[8];
  vstore8(v, 0, all);
  return all[k];
}

// Where the element with this number lies.
long position(const long8 shape, const long8 strides, const int rank, long number) {
  if (rank == 1) return number * strides.s0;
  long size[8], stride[8];
  vstore8(shape, 0, size);
  vstore8(strides, 0, stride);
  long at = 0;
  for (int d = rank - 1; d > 0; --d) {
    at += number % size[d] * stride[d];
    number /= size[d];
  }
  return at + number * stride[0];
}

float combine_lanes(floatv v) {
  float lanes[VW];
  vstorev(v, 0, lanes);
  for (int half_width = VW / 2; half_width > 0; half_width /= 2)
    for (int i = 0; i < half_width; ++i) lanes[i] = COMBINE(lanes[i], lanes[i + half_width]);
  return lanes[0];
}

// Elements r … r_end-1, in vectors along the last axis.
float combine_rows(__global const float* x, const long8 shape, const long8 strides, const int rank, long r,
                   const long r_end) {
  LEVELS(floatv, 1)
  const long size = component(shape, rank - 1), apart = component(strides, rank - 1);
  while (r < r_end) {
    long left = min(size - r % size, r_end - r);
    __global const float* from = x + position(shape, strides, rank, r);
    r += left;
    while (left > 0) {
      floatv v;
      if (apart == 1 && left >= 4 * VW) {
        const floatv a = COMBINE(vloadv(0, from), vloadv(1, from));
        const floatv b = COMBINE(vloadv(2, from), vloadv(3, from));
        v = COMBINE(a, b);
        from += 4 * VW;
        left -= 4 * VW;
      } else if (apart == 1 && left >= VW) {
        v = vloadv(0, from);
        from += VW;
        left -= VW;
      } else {
        float lanes[VW];
        for (int lane = 0; lane < VW; ++lane) lanes[lane] = lane < left ? from[lane * apart] : IDENTITY;
        v = vloadv(0, lanes);
        from += VW * apart;
        left -= VW;
      }
      block[0] = COMBINE(block[0], v);
      COUNT_STEP(floatv, 1)
    }
  }
  return combine_lanes(JOINED(0));
}

// The same of W vectors of neighbouring outputs.
#define COMBINE_COLUMNS(W)                                                                                   \
  void combine_columns_##W(__global const float* x, const long8 shape, const long8 strides, const int rank, \
                           long r, const long r_end, __global float* y, const float divisor) {              \
    LEVELS(floatv, W)                                                                                        \
    const long size = component(shape, rank - 1), apart = component(strides, rank - 1);                      \
    while (r < r_end) {                                                                                      \
      const long row_end = min(r + size - r % size, r_end);                                                  \
      __global const float* from = x + position(shape, strides, rank, r);                                    \
      for (; r < row_end; ++r, from += apart) {                                                              \
        EACH(w, W) block[w] = COMBINE(block[w], vloadv(w, from));                                            \
        COUNT_STEP(floatv, W)                                                                                \
      }                                                                                                      \
    }                                                                                                        \
    EACH(w, W) vstorev(JOINED(w) / divisor, w, y);                                                           \
  }
COMBINE_COLUMNS(1)
COMBINE_COLUMNS(4)

#define REDUCE_PARAMETERS                                                                                   \
  __global const float *restrict x, const ulong x_offset, __global float *restrict y, const ulong y_offset, \
      const long8 kept_shape, const long8 kept_strides, const int kept_rank, const long8 reduced_shape,     \
      const long8 reduced_strides, const int reduced_rank, const long outputs, const long reduced,          \
      const float divisor
#define PART_BEGIN(part, parts) (reduced / (parts) * (part) + min((long)(part), reduced % (parts)))

#define REDUCED reduced_shape, reduced_strides, reduced_rank

__kernel void rows(REDUCE_PARAMETERS, const long chunk) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  x += x_offset;
  y += y_offset + part * outputs;
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, outputs);
  for (long o = first; o < end; ++o) {
    const long at = position(kept_shape, kept_strides, kept_rank, o);
    y[o] = combine_rows(x + at, REDUCED, r, r_end) / divisor;
  }
}

__kernel void columns(REDUCE_PARAMETERS, const long chunk) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  x += x_offset;
  y += y_offset + part * outputs;
  const long width = component(kept_shape, kept_rank - 1);
  long o = get_global_id(0) * chunk;
  const long end = min(o + chunk, outputs);
  while (o < end) {
    __global const float* from = x + position(kept_shape, kept_strides, kept_rank, o);
    const long left = min(width - o % width, end - o);
    if (left >= 4 * VW) {
      combine_columns_4(from, REDUCED, r, r_end, y + o, divisor);
      o += 4 * VW;
    } else if (left >= VW) {
      combine_columns_1(from, REDUCED, r, r_end, y + o, divisor);
      o += VW;
    } else {
      y[o] = combine_rows(from, REDUCED, r, r_end) / divisor;
      ++o;
    }
  }
}

// Every `step`-th of the elements r … r_end-1.
float combine_items(__global const float* x, const long8 shape, const long8 strides, const int rank, long r,
                    const long r_end, const long step) {
  LEVELS(float, 1)
  for (; r < r_end; r += step) {
    block[0] = COMBINE(block[0], x[position(shape, strides, rank, r)]);
    COUNT_STEP(float, 1)
  }
  return JOINED(0);
}

__kernel void items(REDUCE_PARAMETERS) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long o = get_global_id(0);
  if (o >= outputs) return;
  x += x_offset + position(kept_shape, kept_strides, kept_rank, o);
  const float result = combine_items(x, REDUCED, PART_BEGIN(part, parts), PART_BEGIN(part + 1, parts), 1);
  y[y_offset + part * outputs + o] = result / divisor;
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))
void groups(REDUCE_PARAMETERS) {
  __local float results[LOCAL];
  const long part = get_group_id(1), parts = get_num_groups(1);
  const long o = get_group_id(0);
  const int item = get_local_id(0);
  x += x_offset + position(kept_shape, kept_strides, kept_rank, o);
  results[item] =
      combine_items(x, REDUCED, PART_BEGIN(part, parts) + item, PART_BEGIN(part + 1, parts), LOCAL);
  for (int half_width = LOCAL / 2; half_width > 0; half_width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_width) results[item] = COMBINE(results[item], results[item + half_width]);
  }
  if (item == 0) y[y_offset + part * outputs + o] = results[0] / divisor;
}
