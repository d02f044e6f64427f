// The register types for which cl_kernels/common/math/ defines its functions. For VW = 16 the names are name_float and
// name_float16.
#include "common/vector.h"

// DEFINE(T, I): a float type, and the int type of the same size.
#define ON_FLOATS(DEFINE) DEFINE(float, int) DEFINE(floatv, intv)
// DEFINE(T, U, last): a type, the unsigned type of the same size, and the number of the last bit. Where T has no sign,
// no number is below 0, so conditions ask for a negative number first.
#define ON_INTEGERS(DEFINE)                   \
  DEFINE(int, uint, 31)                       \
  DEFINE(intv, JOIN(uint, VW), 31)            \
  DEFINE(long, ulong, 63)                     \
  DEFINE(JOIN(long, VW), JOIN(ulong, VW), 63) \
  DEFINE(ulong, ulong, 63)                    \
  DEFINE(JOIN(ulong, VW), JOIN(ulong, VW), 63)
