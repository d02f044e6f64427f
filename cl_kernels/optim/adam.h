// Adam    g += decay p;  m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g g
//         p -= lr / bias1 m / (sqrt(v) / bias2 + eps)
// AMSGrad the square root is taken of the largest v so far
// AdamW   p -= lr decay p, then as Adam without decay
#include "optim/optimizer.h"

// The numbers of a step of one parameter.
typedef struct {
  float one_minus_beta1, beta2, one_minus_beta2, step_size, root_scale, coupled_decay, shrink, eps;
  int flags;
} AdamStep;

static inline AdamStep adam_step_of(__global const float* hyper, __global const float* progress, float beta2,
                                    float one_minus_beta2, float log_beta2, float eps, float decay, int flags) {
  const bool counted = flags & COUNTED;
  const float bias1 = counted ? bias_correction(progress[0], hyper[3]) : progress[1];
  const float bias2 = counted ? sqrt(bias_correction(progress[0], log_beta2)) : progress[2];
  AdamStep step;
  step.one_minus_beta1 = hyper[2];
  step.beta2 = beta2;
  step.one_minus_beta2 = one_minus_beta2;
  step.step_size = hyper[0] / bias1;
  step.root_scale = 1.0f / bias2;
  step.coupled_decay = flags & DECOUPLED ? 0.0f : decay;
  step.shrink = flags & DECOUPLED ? 1.0f - hyper[0] * decay : 1.0f;
  step.eps = eps;
  step.flags = flags;
  return step;
}

// Steps the blocks first, first + items, … of a parameter. Only AMSGrad reads and writes max_squares.
static inline void adam_blocks(long first, long count, __global float* parameters, __global const STORED* gradients,
                               __global float* means, __global float* squares, __global float* max_squares,
                               const AdamStep* step) {
  FOR_VECTORS_FROM(first, at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_lanes(parameters + at, n);
    const floatv g = gradient_at(gradients + at, n, step->flags) + step->coupled_decay * p;
    floatv m = load_lanes(means + at, n);
    m += step->one_minus_beta1 * (g - m);
    floatv v = step->beta2 * load_lanes(squares + at, n) + step->one_minus_beta2 * (g * g);
    store_lanes(m, n, means + at);
    store_lanes(v, n, squares + at);
    if (step->flags & AMSGRAD) {
      v = fmax(load_lanes(max_squares + at, n), v);
      store_lanes(v, n, max_squares + at);
    }
    const floatv change = m / (sqrt(v) * step->root_scale + step->eps);
    store_lanes(step->shrink * p - step->step_size * change, n, parameters + at);
  }
}
