// The parameters of running products.
#ifndef CRISOL_REDUCE_PARAMETERS_H
#define CRISOL_REDUCE_PARAMETERS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

// `lines` lines of n elements. Neighbours of a line are `inner` elements apart. A work-item takes `chunk` lines.
typedef struct {
  Long lines, n, inner, chunk;
} LineParameters;
CHECK_PARAMETERS(LineParameters, 32);

PARAMETERS_END
#endif
