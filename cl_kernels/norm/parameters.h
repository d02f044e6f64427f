// The parameters and flags of normalisations.
#ifndef CRISOL_NORM_PARAMETERS_H
#define CRISOL_NORM_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

enum AffineFlags {
  AFFINE_WEIGHT = 1,  // The result is multiplied by a weight.
  AFFINE_BIAS = 2,    // A bias is added to the result.
};

// A contiguous (images, channels, spatial). `rows` is images * channels. A channel has `parts` parts, and `piece` is the
// size of a part or of a piece of a row (norm/batch_norm.cl).
typedef struct {
  Long rows, channels, spatial, piece, parts;
} BatchNormParameters;
CHECK_PARAMETERS(BatchNormParameters, 40);

PARAMETERS_END
#endif
