// How an element that is scattered changes its destination. COMBINE is one of these names. In each of them a is the
// destination and b is the later element. NaN wins against every number in AMAX and AMIN.
#ifndef COMBINE
#define COMBINE ADD
#endif

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AMAX(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define AMIN(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define REPLACE(a, b) (b)
