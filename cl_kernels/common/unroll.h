// For kernels whose arrays are to become registers.
#include "common/fma.h"

// Before loops over them; not on CPUs, which run such kernels in tests only and would compile for seconds (ROLLED).
#ifdef ROLLED
#define UNROLL _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define UNROLL _Pragma("unroll")
#endif
