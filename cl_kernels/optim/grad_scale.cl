// Unscale  g /= scale;  overflow = 1 if an element of g is infinite or NaN
// Update   overflow: scale *= backoff, steps = 0;  otherwise steps += 1, and after `interval` steps scale *= growth
#include "optim/optimizer.h"
#include "common/over_lanes.h"

OVER_LANES(sum_of_lanes, PLUS, floatv)

STEP_KERNEL void grad_unscale(__global STORED* restrict gradients, const ulong gradients_offset,
                              __global const float* restrict scale, const ulong scale_offset,
                              __global float* restrict overflow, const ulong overflow_offset, const long count) {
  gradients += gradients_offset;
  const float factor = 1.0f / scale[scale_offset];
  floatv finite = (floatv)(0.0f);  // Stays 0 while all elements are finite, because infinity - infinity is NaN.
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv g = load_elements(gradients + at, n);
    finite += g - g;
    store_elements(factor * g, n, gradients + at);
  }
  if (sum_of_lanes(finite) != 0.0f) overflow[overflow_offset] = 1.0f;
}

// Runs as one work-item. scale = the scale, the steps since it changed
STEP_KERNEL void grad_scale_update(__global float* restrict scale, const ulong scale_offset,
                                   __global float* restrict overflow, const ulong overflow_offset, const float growth,
                                   const float backoff, const float interval) {
  if (get_global_id(0) != 0) return;
  scale += scale_offset;
  overflow += overflow_offset;
  const float steps = overflow[0] != 0.0f ? 0.0f : scale[1] + 1.0f;
  const float larger = scale[0] * growth;
  if (overflow[0] != 0.0f) scale[0] *= backoff;
  if (steps == interval && isfinite(larger)) scale[0] = larger;
  scale[1] = steps == interval ? 0.0f : steps;
  overflow[0] = 0.0f;
}
