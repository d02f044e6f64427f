// The flags that layer_norm and batch_norm get at run time. The host takes them from here.
#ifndef CRISOL_ROWWISE_FLAGS_H
#define CRISOL_ROWWISE_FLAGS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

enum AffineFlags {
  AFFINE_WEIGHT = 1,  // The result is multiplied by a weight.
  AFFINE_BIAS = 2,    // A bias is added to the result.
};

PARAMETERS_END
#endif
