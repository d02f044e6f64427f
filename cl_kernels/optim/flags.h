// The flags that the optimiser steps get at run time. The host takes them from here.
#ifndef CRISOL_OPTIM_FLAGS_H
#define CRISOL_OPTIM_FLAGS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

enum StepFlags {
  MAXIMIZE = 1,       // The step climbs instead of descending.
  WITH_MOMENTUM = 2,  // There is a buffer of momenta.
  NESTEROV = 4,       // Uses Nesterov's momentum.
  CENTERED = 8,       // Subtracts the squared mean from the mean square.
  AMSGRAD = 16,       // Divides by the square root of the largest mean square so far.
  DECOUPLED = 32,     // Decoupled weight decay: the decay is not added to the gradient.
  COUNTED = 64,       // `progress` has only t, the number of this step.
};

PARAMETERS_END
#endif
