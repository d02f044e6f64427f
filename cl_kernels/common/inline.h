// In hot loops the compiler must see its constants: PoCL does not inline large functions by itself.
#define INLINE inline __attribute__((always_inline))
