// PREFETCH(p) asks for the cache line at p, if the program is compiled directly for the processor. Otherwise (with
// SPIR-V, for example) the compiler may not know the builtin. OpenCL's own prefetch() does nothing on PoCL.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define PREFETCH(p) __builtin_prefetch((const void*)(ulong)(p))
#else
#define PREFETCH(p)
#endif
