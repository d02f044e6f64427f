// What kernels do about numbers that lie outside of the plane.
//
// With SKIPS_HIDDEN they are not read and are 0 from the start: NVIDIA's assembler makes a predicate of a branch over one read.
// Elsewhere a branch costs more than reading something that may be read and replacing it, late, when it is used.
#ifndef SKIPS_HIDDEN
#if UNIT == 1 || UNIT == 2
#define SKIPS_HIDDEN 1
#else
#define SKIPS_HIDDEN 0
#endif
#endif
