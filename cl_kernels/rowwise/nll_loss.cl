// The negative log-likelihood of contiguous rows of log-probabilities (n, classes) of STORED, with one label t for each
// row:
//
//   loss = -x_t       dx_c = -[c = t] scale dy
#include "rowwise/label_loss.h"

// One work-item for each row.
ROW_KERNEL void nll_rows(__global const STORED* restrict x, ulong x_offset, __global const LABEL* restrict labels,
                       ulong labels_offset, __global float* restrict losses, ulong losses_offset,
                       __global long* fault, ulong fault_offset, long rows, long classes, long ignored,
                       int op) {
  const long row = get_global_id(0);
  if (row >= rows) return;
  const long label = labels[labels_offset + row];
  float loss = 0.0f;
  if (label != ignored) {
    if (!is_class(label, classes)) note_wrong_index(fault + fault_offset, op, label, classes);
    loss = is_class(label, classes) ? -LOAD(STORED, x, x_offset + row * classes + label) : NAN;
  }
  losses[losses_offset + row] = loss;
}

// One work-item for each element.
ROW_KERNEL void nll_backward(__global const float* restrict dy, ulong dy_offset, __global const LABEL* restrict labels,
                           ulong labels_offset, __global const float* restrict scale, ulong scale_offset,
                           __global STORED* restrict dx, ulong dx_offset, long rows, long classes, long ignored,
                           long dy_step) {
  const long i = get_global_id(0);
  if (i >= rows * classes) return;
  const long row = i / classes;
  const long label = labels[labels_offset + row];
  float g = 0.0f;
  if (label != ignored) {
    if (!is_class(label, classes)) g = NAN;
    if (label == i % classes) g = -dy[dy_offset + row * dy_step] * scale[scale_offset];
  }
  STORE(STORED, dx, dx_offset + i, g);
}
