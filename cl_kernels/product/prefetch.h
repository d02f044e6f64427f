// PREFETCH(p) asks for the cache line at p, where the program is compiled for the processor at once; elsewhere (SPIR-V, for
// one) the built-in function may be unknown. OpenCL's own prefetch() does nothing on PoCL.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define PREFETCH(p) __builtin_prefetch((const void*)(ulong)(p))
#else
#define PREFETCH(p)
#endif
