// In hot loops the compiler must see its constants: PoCL does not inline large functions by itself.
//
// Every other function of the kernels is static: one that is `inline` alone has no body but where it is inlined (C99, which
// OpenCL C is), so that a call that a compiler leaves links nowhere. Of these no call is left. Static as well, they are inlined
// in another order by Intel's compiler for GPUs, which then unrolls some tiles too late and spills them.
#define INLINE inline __attribute__((always_inline))
