// Winograd's transforms of tiles in registers, for GPUs: F(TILE x TILE, 3 x 3), TILE 4 or 2.
#include "common/unroll.h"

#define real float
#include "conv/winograd.h"

#ifndef TILE
#define TILE 4
#endif
#define SIDE (TILE + 2)
#define POSITIONS (SIDE * SIDE)

#if TILE == 4
#define line_input input_transform
#define line_kernel kernel_transform
#define line_output output_transform
#else
#define line_input four_input
#define line_kernel four_kernel
#define line_output four_output
#endif

// Transforms the columns of `d` and then its rows: `from` x `from` values become `to` x `to` values.
#define TRANSFORM(d, transform, from, to)              \
  UNROLL for (int j = 0; j < (from); ++j) {            \
    real l[SIDE];                                      \
    UNROLL for (int i = 0; i < (from); ++i) l[i] = (d)[i][j];   \
    transform(l);                                      \
    UNROLL for (int i = 0; i < (to); ++i) (d)[i][j] = l[i];     \
  }                                                    \
  UNROLL for (int i = 0; i < (to); ++i) {              \
    real l[SIDE];                                      \
    UNROLL for (int j = 0; j < (from); ++j) l[j] = (d)[i][j];   \
    transform(l);                                      \
    UNROLL for (int j = 0; j < (to); ++j) (d)[i][j] = l[j];     \
  }
