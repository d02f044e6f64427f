// Hot loops are fast only if the compiler sees their constants, and PoCL does not inline large functions by itself.
//
// Every other function of the kernels is static. A function that is only `inline` has no body of its own (a rule of
// C99, and so of OpenCL C). A call that the compiler does not inline then fails to link. INLINE functions need no
// `static`, because the compiler inlines every call. With `static`, Intel's compiler for GPUs inlines them in another
// order, unrolls some tiles too late and spills them. On PoCL they are static, because it keeps the bodies of all
// others in the program, where they take half of its memory.
#ifdef STATIC_INLINE
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE inline __attribute__((always_inline))
#endif
