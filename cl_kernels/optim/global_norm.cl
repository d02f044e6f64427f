// The Euclidean norm of tensors, and scaling by it. Every run gives the same bits.
//
//   partials[group] = sum of x[i]^2 over the group's contiguous part, in blocks of BLOCK vectors for each item
//   norm = sqrt(sum of all partials)
//   x[i] *= c with c = max_norm / (norm + 1e-6), or 1 where c is above 1; if the norm is NaN, every x becomes NaN
//
// x is of STORED, and the norm is f32. GROUP is the number of work-items of a group, 1 on CPUs. VW is the number of
// elements of a vector. Neighbouring items read neighbouring vectors.
#ifndef GROUP
#define GROUP 64
#endif
#include "common/lanes.h"
#include "common/over_lanes.h"
#include "common/group_tree.h"
#ifndef BLOCK
#define BLOCK 128
#endif

OVER_LANES(sum_of_lanes, PLUS, floatv)

// The squares of the elements of vector v. The vectors from `end` on count as zeros.
static inline floatv square_at(__global const STORED* x, long v, long end, long count) {
  const floatv value = v < end ? load_elements(x + v * VW, (int)min((long)VW, count - v * VW)) : (floatv)(0.0f);
  return value * value;
}

#if GROUP > 1
GROUP_TREE(sum_of_group, PLUS)
#else
#define sum_of_group(v, scratch) (v)
#endif

GROUP_KERNEL(GROUP, 1) void norm_partials(
    __global const STORED* restrict x, const ulong x_offset, __global float* restrict partials,
    const ulong partials_offset, const long first_partial, const long count) {
  __local float sums[GROUP];
  x += x_offset;
  const long group = get_group_id(0);
  const long groups = get_num_groups(0);
  const long vectors = (count + VW - 1) / VW;
  const long end = vectors * (group + 1) / groups;
  floatv sum = (floatv)(0.0f);
    // Each block is summed first, and then the block sums are added up. So the error grows with BLOCK / 4 plus the
    // number of blocks.
  for (long block = vectors * group / groups; block < end; block += GROUP * BLOCK) {
    const long block_end = min(end, block + GROUP * BLOCK);
    floatv block_sum = (floatv)(0.0f);
    for (long v = block + get_local_id(0); v < block_end; v += 4 * GROUP) {
      const floatv a = square_at(x, v, block_end, count);
      const floatv b = square_at(x, v + GROUP, block_end, count);
      const floatv c = square_at(x, v + 2 * GROUP, block_end, count);
      const floatv d = square_at(x, v + 3 * GROUP, block_end, count);
      block_sum += (a + b) + (c + d);
    }
    sum += block_sum;
  }
  const float total = sum_of_group(sum_of_lanes(sum), sums);
  if (get_local_id(0) == 0) partials[partials_offset + first_partial + group] = total;
}

// Runs as one work-group, which sums the partials.
GROUP_KERNEL(GROUP, 1) void norm_of_partials(
    __global const float* restrict partials, const ulong partials_offset, __global float* restrict norm,
    const ulong norm_offset, const long count) {
  __local float sums[GROUP];
  floatv sum = (floatv)(0.0f);
  for (long v = get_local_id(0); v * VW < count; v += GROUP)
    sum += load_lanes(partials + partials_offset + v * VW, (int)min((long)VW, count - v * VW));
  const float total = sum_of_group(sum_of_lanes(sum), sums);
  if (get_local_id(0) == 0) norm[norm_offset] = sqrt(total);
}

GROUP_KERNEL(GROUP, 1) void scale_to_norm(
    __global STORED* restrict x, const ulong x_offset, __global const float* restrict norm, const ulong norm_offset,
    const long count, const float max_norm) {
  x += x_offset;
  const float wanted = max_norm / (norm[norm_offset] + 1e-6f);
  const float factor = wanted > 1.0f ? 1.0f : wanted;
  const long group = get_group_id(0);
  const long groups = get_num_groups(0);
  const long vectors = (count + VW - 1) / VW;
  for (long v = vectors * group / groups + get_local_id(0); v < vectors * (group + 1) / groups; v += GROUP) {
    const int n = (int)min((long)VW, count - v * VW);
    store_elements(factor * load_elements(x + v * VW, n), n, x + v * VW);
  }
}
