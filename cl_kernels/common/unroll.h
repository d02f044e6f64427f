// UNROLL is for kernels whose arrays should become registers.
#include "common/fma.h"

// UNROLL comes before loops over such arrays. CPUs do not unroll the loops (ROLLED): they run such kernels only in
// tests, and compiling would take seconds.
#ifdef ROLLED
#define UNROLL _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define UNROLL _Pragma("unroll")
#endif
