// The transform of a piece of an image for CPUs, a vector of pieces at a time.
#include "common/vector.h"

#define real floatv
#include "conv/winograd.h"

// Transforms a piece of `side` x `side` pixels into 36 positions, VW pieces at a time. `side` is a constant: 6 for x, 4
// for dy.
INLINE void transform_piece(__global float* to, long position_step, __global const float* pixel, long row_step,
                            long column_step, const int side) {
  floatv half_done[36];
  NO_UNROLL
  for (int j = 0; j < side; ++j) {
    floatv d[6];
#pragma unroll
    for (int i = 0; i < side; ++i) d[i] = ALIGNED_CONST(pixel + i * row_step + j * column_step);
    if (side == 6) {
      input_transform(d);
    } else {
      piece_transform(d);
    }
#pragma unroll
    for (int i = 0; i < 6; ++i) half_done[i * 6 + j] = d[i];
  }
  NO_UNROLL
  for (int i = 0; i < 6; ++i) {
    floatv d[6];
#pragma unroll
    for (int j = 0; j < side; ++j) d[j] = half_done[i * 6 + j];
    if (side == 6) {
      input_transform(d);
    } else {
      piece_transform(d);
    }
#pragma unroll
    for (int j = 0; j < 6; ++j) ALIGNED(to + (i * 6 + j) * position_step) = d[j];
  }
}
