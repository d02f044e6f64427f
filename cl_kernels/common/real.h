// REAL is the type in which a kernel computes: float, or double where the host defines REAL and REAL_IS_DOUBLE.
#ifndef REAL
#define REAL float
#endif
#ifdef REAL_IS_DOUBLE
#define REAL_MAX DBL_MAX
#define REAL_EXPONENT 1022
#else
#define REAL_MAX FLT_MAX
#define REAL_EXPONENT 126
#endif
