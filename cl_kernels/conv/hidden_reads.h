// How kernels treat values that are outside of the plane.
//
// With SKIPS_HIDDEN they are not read and are 0 from the start. NVIDIA's assembler turns a branch over one read into a
// predicate, which costs little. On other devices a branch costs more than the alternative: read a value that may be
// read, and replace it late, when it is used.
#include "product/units/kinds.h"
#ifndef SKIPS_HIDDEN
#if UNIT == UNIT_MMA_SM80 || UNIT == UNIT_MMA_SM75
#define SKIPS_HIDDEN 1
#else
#define SKIPS_HIDDEN 0
#endif
#endif
