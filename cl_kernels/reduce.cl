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
// Sums are pairwise: blocks of a few values are added in order, blocks of blocks in a binary tree, so that the error
// grows with the logarithm of the count.
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

// Steps of a block, and levels of the tree above the blocks.
#define BLOCK 16
#define LEVELS 48

// Joins block number `count` (from 0) of W values with its elder siblings, as a binary counter carries.
#define PUSH(stack, count, block, W)                                                                           \
  {                                                                                                            \
    int level = 0;                                                                                             \
    for (long carry = count; (carry & 1) != 0; carry >>= 1, ++level)                                           \
      for (int w = 0; w < W; ++w) block[w] = COMBINE(stack[level * W + w], block[w]);                          \
    for (int w = 0; w < W; ++w) {                                                                              \
      stack[level * W + w] = block[w];                                                                         \
      block[w] = IDENTITY;                                                                                     \
    }                                                                                                          \
    ++count;                                                                                                   \
  }
// Joins what waits on the stack into the last, unfinished block.
#define FINISH(stack, count, block, W)                                                        \
  for (int level = 0; (count >> level) != 0; ++level)                                         \
    if ((count >> level & 1) != 0)                                                            \
      for (int w = 0; w < W; ++w) block[w] = COMBINE(stack[level * W + w], block[w]);

// A walk over axes in order, outermost first.
typedef struct {
  long size[8], stride[8], index[8];
  int rank;
  long at;  // Position of the current index.
} Walk;

void walk_begin(Walk* walk, const long8 size, const long8 stride, const int rank, const long first) {
  vstore8(size, 0, walk->size);
  vstore8(stride, 0, walk->stride);
  walk->rank = rank;
  walk->at = 0;
  long rest = first;
  for (int d = rank - 1; d >= 0; --d) {
    walk->index[d] = rest % walk->size[d];
    rest /= walk->size[d];
    walk->at += walk->index[d] * walk->stride[d];
  }
}

// To the next index along axis d, with carry to the axes before it.
void walk_next(Walk* walk, int d) {
  for (; d >= 0; --d) {
    walk->at += walk->stride[d];
    if (++walk->index[d] < walk->size[d]) return;
    walk->at -= walk->size[d] * walk->stride[d];
    walk->index[d] = 0;
  }
}

float combine_lanes(floatv v) {
  float lanes[VW];
  vstorev(v, 0, lanes);
  for (int half_width = VW / 2; half_width > 0; half_width /= 2)
    for (int i = 0; i < half_width; ++i) lanes[i] = COMBINE(lanes[i], lanes[i + half_width]);
  return lanes[0];
}

// `count` elements from where the walk begins, in vectors along its last axis.
float combine_rows(__global const float* x, Walk* walk, long count) {
  floatv stack[LEVELS];
  floatv block[1];
  block[0] = (floatv)(IDENTITY);
  long blocks = 0;
  int steps = 0;
  const int last = walk->rank - 1;
  const long apart = walk->stride[last];
  while (count > 0) {
    long left = min(walk->size[last] - walk->index[last], count);
    count -= left;
    __global const float* from = x + walk->at;
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
      if (++steps == BLOCK) {
        PUSH(stack, blocks, block, 1)
        steps = 0;
      }
    }
    // The next row begins at its first element.
    walk->at -= walk->index[last] * walk->stride[last];
    walk->index[last] = 0;
    walk_next(walk, last - 1);
  }
  FINISH(stack, blocks, block, 1)
  return combine_lanes(block[0]);
}

// W vectors of neighbouring outputs over `count` steps of the walk.
#define COMBINE_COLUMNS(W)                                                                          \
  void combine_columns_##W(__global const float* x, Walk* walk, long count, __global float* y,      \
                           const float divisor) {                                                   \
    floatv stack[LEVELS * W];                                                                       \
    floatv block[W];                                                                                \
    for (int w = 0; w < W; ++w) block[w] = (floatv)(IDENTITY);                                      \
    long blocks = 0;                                                                                \
    int steps = 0;                                                                                  \
    for (; count > 0; --count) {                                                                    \
      for (int w = 0; w < W; ++w) block[w] = COMBINE(block[w], vloadv(w, x + walk->at));            \
      walk_next(walk, walk->rank - 1);                                                              \
      if (++steps == BLOCK) {                                                                       \
        PUSH(stack, blocks, block, W)                                                               \
        steps = 0;                                                                                  \
      }                                                                                             \
    }                                                                                               \
    FINISH(stack, blocks, block, W)                                                                 \
    for (int w = 0; w < W; ++w) vstorev(block[w] / divisor, w, y);                                  \
  }
COMBINE_COLUMNS(1)
COMBINE_COLUMNS(4)

#define REDUCE_PARAMETERS                                                                                   \
  __global const float *restrict x, const ulong x_offset, __global float *restrict y, const ulong y_offset, \
      const long8 kept_shape, const long8 kept_strides, const int kept_rank, const long8 reduced_shape,     \
      const long8 reduced_strides, const int reduced_rank, const long outputs, const long reduced,          \
      const float divisor
#define PART_BEGIN(part, parts) (reduced / (parts) * (part) + min((long)(part), reduced % (parts)))

__kernel void rows(REDUCE_PARAMETERS, const long chunk) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  x += x_offset;
  y += y_offset + part * outputs;
  const long first = get_global_id(0) * chunk;
  const long end = min(first + chunk, outputs);
  if (first >= end) return;
  Walk kept, walk;
  walk_begin(&kept, kept_shape, kept_strides, kept_rank, first);
  for (long o = first; o < end; ++o) {
    walk_begin(&walk, reduced_shape, reduced_strides, reduced_rank, r);
    y[o] = combine_rows(x + kept.at, &walk, r_end - r) / divisor;
    walk_next(&kept, kept_rank - 1);
  }
}

__kernel void columns(REDUCE_PARAMETERS, const long chunk) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long r = PART_BEGIN(part, parts), r_end = PART_BEGIN(part + 1, parts);
  x += x_offset;
  y += y_offset + part * outputs;
  long o = get_global_id(0) * chunk;
  const long end = min(o + chunk, outputs);
  Walk kept, walk;
  const int last = kept_rank - 1;
  while (o < end) {
    walk_begin(&kept, kept_shape, kept_strides, kept_rank, o);
    const long left = min(kept.size[last] - kept.index[last], end - o);
    walk_begin(&walk, reduced_shape, reduced_strides, reduced_rank, r);
    if (left >= 4 * VW) {
      combine_columns_4(x + kept.at, &walk, r_end - r, y + o, divisor);
      o += 4 * VW;
    } else if (left >= VW) {
      combine_columns_1(x + kept.at, &walk, r_end - r, y + o, divisor);
      o += VW;
    } else {
      y[o] = combine_rows(x + kept.at, &walk, r_end - r) / divisor;
      ++o;
    }
  }
}

// Every `step`-th of `count` elements.
float combine_items(__global const float* x, const long8 shape, const long8 strides, const int rank, long r,
                    const long r_end, const long step) {
  float stack[LEVELS];
  float block[1] = {IDENTITY};
  long blocks = 0;
  int steps = 0;
  Walk walk;
  for (; r < r_end; r += step) {
    long at = r * strides.s0;
    if (rank > 1) {
      walk_begin(&walk, shape, strides, rank, r);
      at = walk.at;
    }
    block[0] = COMBINE(block[0], x[at]);
    if (++steps == BLOCK) {
      PUSH(stack, blocks, block, 1)
      steps = 0;
    }
  }
  FINISH(stack, blocks, block, 1)
  return block[0];
}

__kernel void items(REDUCE_PARAMETERS) {
  const long part = get_global_id(1), parts = get_global_size(1);
  const long o = get_global_id(0);
  if (o >= outputs) return;
  Walk kept;
  walk_begin(&kept, kept_shape, kept_strides, kept_rank, o);
  const float result = combine_items(x + x_offset + kept.at, reduced_shape, reduced_strides, reduced_rank,
                                     PART_BEGIN(part, parts), PART_BEGIN(part + 1, parts), 1);
  y[y_offset + part * outputs + o] = result / divisor;
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))
void groups(REDUCE_PARAMETERS) {
  __local float results[LOCAL];
  const long part = get_group_id(1), parts = get_num_groups(1);
  const long o = get_group_id(0);
  const int item = get_local_id(0);
  Walk kept;
  walk_begin(&kept, kept_shape, kept_strides, kept_rank, o);
  results[item] = combine_items(x + x_offset + kept.at, reduced_shape, reduced_strides, reduced_rank,
                                PART_BEGIN(part, parts) + item, PART_BEGIN(part + 1, parts), LOCAL);
  for (int half_width = LOCAL / 2; half_width > 0; half_width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_width) results[item] = COMBINE(results[item], results[item + half_width]);
  }
  if (item == 0) y[y_offset + part * outputs + o] = results[0] / divisor;
}
