// The flags that the kernels of recurrent layers get at run time. The host takes them from here.
#ifndef CRISOL_RNN_FLAGS_H
#define CRISOL_RNN_FLAGS_H
#include "common/parameters.h"
PARAMETERS_BEGIN

enum RnnFlags {
  WITH_LENGTHS = 1,  // From step lengths[b] on, the sequence of row b is over, and its state stays.
  WITH_BIAS = 2,     // There are biases.
  KEEP = 4,          // Writes the values that backward reads.
  PROJECTS = 8,      // The output is projected.
  WITH_DY = 16,      // The outputs have a gradient.
  REVERSE = 32,      // Steps go from the last to the first.
  WITH_INPUT = 64,   // The kernel computes W_ih x.
};

PARAMETERS_END
#endif
