// One parameter, or an arena of them.
#include "optim/adam.h"

STEP_KERNEL void optimizer_adam(__global float* restrict parameters, const ulong parameters_offset,
                                __global const STORED* restrict gradients, const ulong gradients_offset,
                                __global float* restrict means, const ulong means_offset,
                                __global float* restrict squares, const ulong squares_offset,
                                __global float* restrict max_squares, const ulong max_squares_offset,
                                __global const float* restrict hyper, const ulong hyper_offset,
                                __global const float* restrict progress, const ulong progress_offset, const long count,
                                const float beta2, const float one_minus_beta2, const float log_beta2, const float eps,
                                const float decay, const int flags) {
  if (SKIPS(hyper + hyper_offset)) return;
  const AdamStep step = adam_step_of(hyper + hyper_offset, progress + progress_offset, beta2, one_minus_beta2,
                                     log_beta2, eps, decay, flags);
  adam_blocks(get_global_id(0), count, parameters + parameters_offset, gradients + gradients_offset,
              means + means_offset, squares + squares_offset, max_squares + max_squares_offset, &step);
}
