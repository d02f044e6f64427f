// How a scattered element changes its destination. COMBINE is one of these names. a is the destination and b is the
// later element. In AMAX and AMIN, NaN wins against every number.
#ifndef COMBINE
#define COMBINE ADD
#endif

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AMAX(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define AMIN(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define REPLACE(a, b) (b)

// SOURCE is the type in memory of the elements that are scattered. The host defines it if it is a type of halves. Their
// values are floats, like T.
#ifdef SOURCE
#include "common/element.h"
#define SOURCE_AT(p, i) LOAD(SOURCE, p, i)
#define SOURCE_VECTOR(p) LOAD_MANY(SOURCE, p)
#else
#define SOURCE T
#define SOURCE_AT(p, i) (p)[i]
#define SOURCE_VECTOR(p) vloadv(0, p)
#endif
