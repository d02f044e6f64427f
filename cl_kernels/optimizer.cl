// Optimiser steps over flat arenas: element i of every buffer belongs to the same parameter element. All formulas are
// PyTorch's; g is the gradient, p the parameter.
//
//   SGD      g += decay p;  b = momentum b + (1 - dampening) g, or b = g at the first step
//            p -= lr (nesterov ? g + momentum b : b), or p -= lr g without momentum
//   Adam     g += decay p;  m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g g
//            p -= lr / bias1 m / (sqrt(v) / bias2 + eps)
//   AdamW    p -= lr decay p, then as Adam without decay
//   RMSprop  g += decay p;  v = alpha v + (1 - alpha) g g;  centered: a += (1 - alpha) (g - a)
//            u = g / (sqrt(v - a a, or v) + eps);  p -= lr u, or with momentum b = momentum b + u, p -= lr b
//
// What changes from step to step is read from memory, so that a recorded step can be replayed:
//   hyper    = lr, momentum or beta1, 1 - beta1, log(beta1)         written by the host
//   progress = t, bias1 = 1 - beta1^t, bias2 = sqrt(1 - beta2^t), -  advanced on the device
//
// Work: vectors of VW elements in blocks of BLOCK neighbours; item i takes the blocks i, i + items, … BLOCK 1 is
// coalesced on GPUs, a larger one keeps a CPU's core on its own memory pages.
#include "common/lanes.h"

#ifndef BLOCK
#define BLOCK 256
#endif

#define FOR_EACH_VECTOR(at, count)                                           \
  for (long block_ = (long)get_global_id(0) * BLOCK * VW; block_ < (count);  \
       block_ += (long)get_global_size(0) * BLOCK * VW)                      \
    for (long at = block_; at < min(block_ + BLOCK * VW, (count)); at += VW)

// One work-item. -expm1(t log(beta)) is right to 5e-7 of its value for every t; t counts to 2^24 and stays there, where
// every beta below 0.999999 has a correction of 1.
__kernel void optimizer_advance(__global const float* restrict hyper, const ulong hyper_offset,
                                __global float* restrict progress, const ulong progress_offset,
                                const float log_beta2) {
  if (get_global_id(0) != 0) return;
  progress += progress_offset;
  const float t = progress[0] + 1.0f;
  progress[0] = t;
  progress[1] = -expm1(t * hyper[hyper_offset + 3]);
  progress[2] = sqrt(-expm1(t * log_beta2));
}

__kernel void optimizer_sgd(__global float* restrict parameters, const ulong parameters_offset,
                            __global const float* restrict gradients, const ulong gradients_offset,
                            __global float* restrict momenta, const ulong momenta_offset,
                            __global const float* restrict hyper, const ulong hyper_offset,
                            __global const float* restrict progress, const ulong progress_offset, const long count,
                            const float decay, const float undamped, const int has_momentum, const int nesterov) {
  parameters += parameters_offset;
  gradients += gradients_offset;
  momenta += momenta_offset;
  const float lr = hyper[hyper_offset];
  const float momentum = hyper[hyper_offset + 1];
  const int is_first = progress[progress_offset] <= 1.0f;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_lanes(parameters + at, n);
    floatv g = load_lanes(gradients + at, n) + decay * p;
    if (has_momentum) {
      const floatv b = is_first ? g : momentum * load_lanes(momenta + at, n) + undamped * g;
      store_lanes(b, n, momenta + at);
      g = nesterov ? g + momentum * b : b;
    }
    store_lanes(p - lr * g, n, parameters + at);
  }
}

__kernel void optimizer_adam(__global float* restrict parameters, const ulong parameters_offset,
                             __global const float* restrict gradients, const ulong gradients_offset,
                             __global float* restrict means, const ulong means_offset,
                             __global float* restrict squares, const ulong squares_offset,
                             __global const float* restrict hyper, const ulong hyper_offset,
                             __global const float* restrict progress, const ulong progress_offset, const long count,
                             const float beta2, const float one_minus_beta2, const float eps, const float decay,
                             const int decoupled) {
  parameters += parameters_offset;
  gradients += gradients_offset;
  means += means_offset;
  squares += squares_offset;
  const float lr = hyper[hyper_offset];
  const float one_minus_beta1 = hyper[hyper_offset + 2];
  const float step_size = lr / progress[progress_offset + 1];
  const float root_scale = 1.0f / progress[progress_offset + 2];
  const float coupled_decay = decoupled ? 0.0f : decay;
  const float shrink = decoupled ? 1.0f - lr * decay : 1.0f;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_lanes(parameters + at, n);
    const floatv g = load_lanes(gradients + at, n) + coupled_decay * p;
    floatv m = load_lanes(means + at, n);
    m += one_minus_beta1 * (g - m);
    const floatv v = beta2 * load_lanes(squares + at, n) + one_minus_beta2 * (g * g);
    store_lanes(m, n, means + at);
    store_lanes(v, n, squares + at);
    store_lanes(shrink * p - step_size * (m / (sqrt(v) * root_scale + eps)), n, parameters + at);
  }
}

__kernel void optimizer_rmsprop(__global float* restrict parameters, const ulong parameters_offset,
                                __global const float* restrict gradients, const ulong gradients_offset,
                                __global float* restrict squares, const ulong squares_offset,
                                __global float* restrict means, const ulong means_offset,
                                __global float* restrict momenta, const ulong momenta_offset,
                                __global const float* restrict hyper, const ulong hyper_offset, const long count,
                                const float alpha, const float one_minus_alpha, const float eps, const float decay,
                                const int centered, const int has_momentum) {
  parameters += parameters_offset;
  gradients += gradients_offset;
  squares += squares_offset;
  means += means_offset;
  momenta += momenta_offset;
  const float lr = hyper[hyper_offset];
  const float momentum = hyper[hyper_offset + 1];
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_lanes(parameters + at, n);
    const floatv g = load_lanes(gradients + at, n) + decay * p;
    const floatv v = alpha * load_lanes(squares + at, n) + one_minus_alpha * (g * g);
    store_lanes(v, n, squares + at);
    floatv variance = v;
    if (centered) {
      floatv a = load_lanes(means + at, n);
      a += one_minus_alpha * (g - a);
      store_lanes(a, n, means + at);
      variance = fmax(v - a * a, 0.0f);  // Rounding may leave it below zero.
    }
    floatv u = g / (sqrt(variance) + eps);
    if (has_momentum) {
      u += momentum * load_lanes(momenta + at, n);
      store_lanes(u, n, momenta + at);
    }
    store_lanes(p - lr * u, n, parameters + at);
  }
}
