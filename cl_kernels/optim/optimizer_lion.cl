// Lion    p -= lr (sign(beta1 m + (1 - beta1) g) + decay p);  m = beta2 m + (1 - beta2) g
#include "optim/optimizer.h"

STEP_KERNEL void optimizer_lion(__global float* restrict parameters, const ulong parameters_offset,
                                __global const STORED* restrict gradients, const ulong gradients_offset,
                                __global float* restrict means, const ulong means_offset,
                                __global const float* restrict hyper, const ulong hyper_offset, const long count,
                                const float beta2, const float one_minus_beta2, const float decay, const int flags) {
  if (SKIPS(hyper + hyper_offset)) return;
  parameters += parameters_offset;
  gradients += gradients_offset;
  means += means_offset;
  const float lr = hyper[hyper_offset];
  const float one_minus_beta1 = hyper[hyper_offset + 2];
  const float shrink = 1.0f - lr * decay;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv g = gradient_at(gradients + at, n, flags);
    const floatv m = load_lanes(means + at, n);
    const floatv c = m + one_minus_beta1 * (g - m);
    const floatv u = select(sign(c), c, isnan(c));  // A NaN stays: sign(NaN) would be 0 in OpenCL.
    store_lanes(beta2 * m + one_minus_beta2 * g, n, means + at);
    store_lanes(shrink * load_lanes(parameters + at, n) - lr * u, n, parameters + at);
  }
}
