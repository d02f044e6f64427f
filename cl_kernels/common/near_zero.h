// NEAR_ZERO(x, series, y) is `series` for |x| < 1/64 on CPUs, and y otherwise. PoCL's sin, cos and tan of a vector are
// wrong for |x| < 0.007 if another element of the vector is large. With 3e38 in the vector, sin(1e-42) was 0.0078 and
// cos 0.99997.
#include "common/math/parts/types.h"

#ifdef CPU
#define NEAR_ZERO(x, series, y) (fabs(x) < 0.015625f ? (series) : (y))
#else
#define NEAR_ZERO(x, series, y) (y)
#endif
