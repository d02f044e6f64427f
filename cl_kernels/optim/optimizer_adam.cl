// Adam    g += decay p;  m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g g
//         p -= lr / bias1 m / (sqrt(v) / bias2 + eps)
// AMSGrad the square root is taken of the largest v so far
// AdamW   p -= lr decay p, then as Adam without decay
#include "optim/optimizer.h"

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
  parameters += parameters_offset;
  gradients += gradients_offset;
  means += means_offset;
  squares += squares_offset;
  max_squares += max_squares_offset;
  const float lr = hyper[hyper_offset];
  const float one_minus_beta1 = hyper[hyper_offset + 2];
  progress += progress_offset;
  const bool counted = flags & COUNTED;
  const float bias1 = counted ? bias_correction(progress[0], hyper[hyper_offset + 3]) : progress[1];
  const float bias2 = counted ? sqrt(bias_correction(progress[0], log_beta2)) : progress[2];
  const float step_size = lr / bias1;
  const float root_scale = 1.0f / bias2;
  const float coupled_decay = flags & DECOUPLED ? 0.0f : decay;
  const float shrink = flags & DECOUPLED ? 1.0f - lr * decay : 1.0f;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_lanes(parameters + at, n);
    const floatv g = gradient_at(gradients + at, n, flags) + coupled_decay * p;
    floatv m = load_lanes(means + at, n);
    m += one_minus_beta1 * (g - m);
    floatv v = beta2 * load_lanes(squares + at, n) + one_minus_beta2 * (g * g);
    store_lanes(m, n, means + at);
    store_lanes(v, n, squares + at);
    if (flags & AMSGRAD) {
      v = fmax(load_lanes(max_squares + at, n), v);
      store_lanes(v, n, max_squares + at);
    }
    store_lanes(shrink * p - step_size * (m / (sqrt(v) * root_scale + eps)), n, parameters + at);
  }
}
