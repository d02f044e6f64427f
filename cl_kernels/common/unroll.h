// For kernels whose arrays are to become registers.

// Before loops over them; not on CPUs, which run such kernels in tests only and would compile for seconds (ROLLED).
#ifdef ROLLED
#define UNROLL _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define UNROLL _Pragma("unroll")
#endif

#ifdef NO_FMA
#define FMA(a, b, c) ((a) * (b) + (c))
#else
#define FMA(a, b, c) fma(a, b, c)
#endif
