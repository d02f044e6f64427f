// The weights of a query's scores.
#include "common/exp.h"
#include "common/lanes.h"
#include "common/over_lanes.h"

EXP_OF_NEGATIVE(exp_below, floatv, intv)

OVER_LANES(sum_of_lanes, PLUS, floatv)

// Replaces `keys` scores, up to the end of a vector, by exp(score - base), and returns the sum.
INLINE float weigh(__global float* scores, int keys, float base) {
  floatv sum = (floatv)(0.0f);
  NO_UNROLL
  for (int j = 0; j < keys; j += VW) {
    const floatv weight = exp_below(ALIGNED(scores + j) - base);
    ALIGNED(scores + j) = weight;
    sum += weight;
  }
  return sum_of_lanes(sum);
}
