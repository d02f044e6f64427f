// SGD      g += decay p;  b = momentum b + (1 - dampening) g, or b = g at the first step
//          p -= lr (nesterov ? g + momentum b : b), or p -= lr g without momentum
// RMSprop  g += decay p;  v = alpha v + (1 - alpha) g g;  centered: a += (1 - alpha) (g - a)
//          u = g / (sqrt(v - a a, or v) + eps);  p -= lr u, or with momentum b = momentum b + u, p -= lr b
// Average  a += lr (p - a), or a = p at the first step
#include "optim/optimizer.h"

// Momenta are floats, or have the type of the gradients.
#ifdef STORED_MOMENTA
#define MOMENTUM STORED
#define load_momenta load_elements
#define store_momenta store_elements
#else
#define MOMENTUM float
#define load_momenta load_lanes
#define store_momenta store_lanes
#endif

STEP_KERNEL void optimizer_sgd(__global float* restrict parameters, const ulong parameters_offset,
                               __global const STORED* restrict gradients, const ulong gradients_offset,
                               __global MOMENTUM* restrict momenta, const ulong momenta_offset,
                               __global const float* restrict hyper, const ulong hyper_offset,
                               __global const float* restrict progress, const ulong progress_offset, const long count,
                               const float decay, const float undamped, const int flags) {
  if (SKIPS(hyper + hyper_offset)) return;
  parameters += parameters_offset;
  gradients += gradients_offset;
  momenta += momenta_offset;
  const float lr = hyper[hyper_offset];
  const float momentum = hyper[hyper_offset + 1];
  const int is_first = progress[progress_offset] <= 1.0f;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_lanes(parameters + at, n);
    floatv g = gradient_at(gradients + at, n, flags) + decay * p;
    if (flags & WITH_MOMENTUM) {
      const floatv b = is_first ? g : momentum * load_momenta(momenta + at, n) + undamped * g;
      store_momenta(b, n, momenta + at);
      g = flags & NESTEROV ? g + momentum * b : b;
    }
    store_lanes(p - lr * g, n, parameters + at);
  }
}

STEP_KERNEL void optimizer_rmsprop(__global float* restrict parameters, const ulong parameters_offset,
                                   __global const STORED* restrict gradients, const ulong gradients_offset,
                                   __global float* restrict squares, const ulong squares_offset,
                                   __global float* restrict means, const ulong means_offset,
                                   __global MOMENTUM* restrict momenta, const ulong momenta_offset,
                                   __global const float* restrict hyper, const ulong hyper_offset, const long count,
                                   const float alpha, const float one_minus_alpha, const float eps, const float decay,
                                   const int flags) {
  if (SKIPS(hyper + hyper_offset)) return;
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
    const floatv g = gradient_at(gradients + at, n, flags) + decay * p;
    const floatv v = alpha * load_lanes(squares + at, n) + one_minus_alpha * (g * g);
    store_lanes(v, n, squares + at);
    floatv variance = v;
    if (flags & CENTERED) {
      floatv a = load_lanes(means + at, n);
      a += one_minus_alpha * (g - a);
      store_lanes(a, n, means + at);
      variance = fmax(v - a * a, 0.0f);  // Rounding may make v - a a negative.
    }
    floatv u = g / (sqrt(variance) + eps);
    if (flags & WITH_MOMENTUM) {
      u += momentum * load_momenta(momenta + at, n);
      store_momenta(u, n, momenta + at);
    }
    store_lanes(p - lr * u, n, parameters + at);
  }
}

STEP_KERNEL void optimizer_average(__global float* restrict averages, const ulong averages_offset,
                                   __global const STORED* restrict parameters, const ulong parameters_offset,
                                   __global const float* restrict hyper, const ulong hyper_offset,
                                   __global const float* restrict progress, const ulong progress_offset,
                                   const long count) {
  averages += averages_offset;
  parameters += parameters_offset;
  const float share = hyper[hyper_offset];
  const int is_first = progress[progress_offset] <= 1.0f;
  FOR_EACH_VECTOR(at, count) {
    const int n = (int)min((long)VW, count - at);
    const floatv p = load_elements(parameters + at, n);
    const floatv a = load_lanes(averages + at, n);
    store_lanes(is_first ? p : a + share * (p - a), n, averages + at);
  }
}
