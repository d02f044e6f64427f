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
