// The common part of the optimiser steps. They work on flat buffers (arenas): element i of every buffer belongs to the
// same parameter element. All formulas are PyTorch's, with the gradient g and the parameter p. Gradients are of STORED,
// everything else is floats.
//
// Values that change from step to step are read from memory, so that a captured step can be replayed:
//   hyper    = lr, momentum or beta1, 1 - beta1, log(beta1), skip   written by the host; skip on the device
//   progress = t, bias1 = 1 - beta1^t, bias2 = sqrt(1 - beta2^t), -  advanced on the device
//
// Vectors have VW elements, and BLOCK neighbouring vectors are a block. Item i takes the blocks i, i + items, … BLOCK 1
// makes access coalesced on GPUs. A larger BLOCK keeps a CPU's core on its own memory pages.
#include "common/lanes.h"
#include "optim/flags.h"

#ifndef BLOCK
#define BLOCK 256
#endif

#if BLOCK > 1
#define STEP_KERNEL CPU_KERNEL
#else
#define STEP_KERNEL __kernel
#endif

#define FOR_EACH_VECTOR(at, count) FOR_VECTORS_FROM((long)get_global_id(0), at, count)
// The same from another block than the item's own one.
#define FOR_VECTORS_FROM(first, at, count)                                                                       \
  for (long block_ = (first) * BLOCK * VW; block_ < (count); block_ += (long)get_global_size(0) * BLOCK * VW)    \
    for (long at = block_; at < min(block_ + BLOCK * VW, (count)); at += VW)

// Whether the step must change nothing, because gradients overflowed.
#define SKIPS(hyper) ((hyper)[4] != 0.0f)

// The first n elements of a vector of g, or of -g with MAXIMIZE.
static inline floatv gradient_at(__global const STORED* gradients, int n, int flags) {
  const floatv g = load_elements(gradients, n);
  return flags & MAXIMIZE ? -g : g;
}

// 1 - beta^t. The relative error is at most 5e-7 for every t.
static inline float bias_correction(float t, float log_beta) { return -expm1(t * log_beta); }

// Runs as one work-item. t counts to 2^24 and stays there, because then the correction is 1 for every beta below
// 0.999999.
STEP_KERNEL void optimizer_advance(__global const float* restrict hyper, const ulong hyper_offset,
                                   __global float* restrict progress, const ulong progress_offset,
                                   const float log_beta2) {
  if (get_global_id(0) != 0 || SKIPS(hyper + hyper_offset)) return;
  progress += progress_offset;
  const float t = progress[0] + 1.0f;
  progress[0] = t;
  progress[1] = bias_correction(t, hyper[hyper_offset + 3]);
  progress[2] = sqrt(bias_correction(t, log_beta2));
}
