// The common parts of losses of rows of class scores. LABEL is the type of the labels. Losses and their gradients dy are
// floats. A row whose label is `ignored` has loss and gradient 0. A row whose label is not a class has NaN as loss and as
// gradient, and the forward kernels note the label and `op` in `fault` for the host.
#include "rowwise/rows.h"
#include "common/fault.h"
#ifndef LABEL
#define LABEL long
#endif

// Compares only once, as ulong. With the test label >= 0, rusticl 22 accepts a negative int that was converted to long.
static inline int is_class(long label, long classes) { return (ulong)label < (ulong)classes; }

// Runs as one group. total[0] is the sum of the losses. With `mean`, the sum is divided by the number of rows that are
// not ignored. scale[0] is the factor of the sum.
ROW_KERNEL void label_loss_total(__global const float* restrict losses, ulong losses_offset,
                               __global const LABEL* restrict labels, ulong labels_offset, __global float* restrict total,
                               ulong total_offset, __global float* restrict scale, ulong scale_offset, long rows,
                               long ignored, int mean) {
  ROW_SCRATCH;
  SKIP_ITEMS_FROM(1);
  ExactSum sum = {0.0f, 0.0f};
  float used = 0.0f;  // A float counts exactly, because a work-item has less than 2^24 rows.
  for (long row = LANE_ID; row < rows; row += GROUP) {
    exact_add(&sum, losses[losses_offset + row]);
    used += labels[labels_offset + row] != ignored ? 1.0f : 0.0f;
  }
  const float all = group_total(exact_total(&sum));
  const float count = group_total(used);
  if (LANE_ID != 0) return;
  total[total_offset] = mean ? all / count : all;
  scale[scale_offset] = mean ? 1.0f / count : 1.0f;
}
