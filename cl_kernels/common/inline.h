// In hot loops the compiler must see its constants: PoCL does not inline large functions by itself.
//
// Every function of the kernels is static: one that is `inline` alone has no body but where it is inlined (C99, which
// OpenCL C is), so that a call that a compiler leaves links nowhere.
#define INLINE static inline __attribute__((always_inline))
