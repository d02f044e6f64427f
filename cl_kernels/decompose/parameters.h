// The parameters of decompositions.
#ifndef CRISOL_DECOMPOSE_PARAMETERS_H
#define CRISOL_DECOMPOSE_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// Rows (decompose/rows.h) of `matrices` matrices with n rows each. A row has `chunks` chunks. The first
// w_chunks of them hold w and the others hold v. A matrix has `slots` groups. The array `moved` is (matrices,
// sweeps).
typedef struct {
  Long matrices, slots, n, w_chunks, chunks, sweeps;
} JacobiParameters;
CHECK_PARAMETERS(JacobiParameters, 48);

// `matrices` matrices with n columns each, which have `chunks` chunks, and `steps` reflections of each matrix. A kernel
// has `slots` groups for a matrix.
typedef struct {
  Long matrices, slots, n, steps, chunks;
} ReflectionParameters;
CHECK_PARAMETERS(ReflectionParameters, 40);

PARAMETERS_END
#endif
