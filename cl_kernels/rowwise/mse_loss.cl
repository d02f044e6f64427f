// Mean squared error of n elements of x and target, both contiguous and of STORED. Losses and their gradients dy are
// floats. Group r takes part r, which has PART_CHUNKS chunks.
//
//   loss = scale sum (x - target)^2       dx = 2 (x - target) scale dy
//
// Without reduction (EACH 1), the loss and dy have one element for each element of x.
#include "rowwise/rows.h"
#ifndef EACH
#define EACH 0
#endif

// Writes the loss of each element, or the sum of the part.
ROW_KERNEL void mse_forward(__global const STORED* restrict x, ulong x_offset, __global const STORED* restrict target,
                          ulong target_offset, __global float* restrict losses, ulong losses_offset, long n,
                          long parts) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(parts);
  x += x_offset;
  target += target_offset;
  losses += losses_offset;
  const long first = ROW_ID * PART_CHUNKS;
  const long end = min(first + PART_CHUNKS, CHUNKS(n));
  rowv sum = 0.0f;
  for (long c = first + LANE_ID; c < end; c += GROUP) {
    const int whole = IS_WHOLE(c, n);
    const rowv d = load_chunk(x, c, n, 1, 0.0f, whole) - load_chunk(target, c, n, 1, 0.0f, whole);
#if EACH
    store_floats(d * d, losses, c, n, 1, whole);
#else
    sum += d * d;
#endif
  }
#if !EACH
  const float all = row_sum(sum);
  if (LANE_ID == 0) losses[ROW_ID] = all;
#endif
}

// Runs as one group.
ROW_KERNEL void mse_total(__global const float* restrict partial, ulong partial_offset, __global float* restrict loss,
                        ulong loss_offset, long parts, float scale) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(1);
  ExactSum sum = {0.0f, 0.0f};
  for (long p = LANE_ID; p < parts; p += GROUP) exact_add(&sum, partial[partial_offset + p]);
  const float all = group_total(exact_total(&sum));
  if (LANE_ID == 0) loss[loss_offset] = all * scale;
}

ROW_KERNEL void mse_backward(__global const float* restrict dy, ulong dy_offset, __global const STORED* restrict x,
                           ulong x_offset, __global const STORED* restrict target, ulong target_offset,
                           __global STORED* restrict dx, ulong dx_offset, long n, long parts, float scale) {
  SKIP_ITEMS_FROM(parts);
  dy += dy_offset;
  x += x_offset;
  target += target_offset;
  dx += dx_offset;
  const long first = ROW_ID * PART_CHUNKS;
  const long end = min(first + PART_CHUNKS, CHUNKS(n));
  for (long c = first + LANE_ID; c < end; c += GROUP) {
    const int whole = IS_WHOLE(c, n);
    const rowv d = load_chunk(x, c, n, 1, 0.0f, whole) - load_chunk(target, c, n, 1, 0.0f, whole);
    const rowv g = EACH ? load_floats(dy, c, n, 1, 0.0f, whole) : (rowv)(dy[0]);
    store_chunk(2.0f * scale * d * g, dx, c, n, 1, whole);
  }
}
