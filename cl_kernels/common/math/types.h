// The register types for which the functions of this folder are defined: name_float and name_float16 for VW = 16.
#include "common/vector.h"

// DEFINE(T, I): floats, and the ints of their size.
#define ON_FLOATS(DEFINE) DEFINE(float, int) DEFINE(floatv, intv)
// DEFINE(T, U, bits): integers, and the unsigned ones of their size.
#define ON_INTEGERS(DEFINE)        \
  DEFINE(int, uint, 31)            \
  DEFINE(intv, JOIN(uint, VW), 31) \
  DEFINE(long, ulong, 63)          \
  DEFINE(JOIN(long, VW), JOIN(ulong, VW), 63)
