// UNIFORM(x): an integer that is the same for all items of a wave.
//
// AMD's have scalar registers for such values, and the address of a read is one of them and an offset of the item. Compilers
// lose sight of it behind a division, which is made in vector registers, and what follows from there would be too.
#if defined(__has_builtin) && defined(__AMDGCN__)
#if __has_builtin(__builtin_amdgcn_readfirstlane)
#define UNIFORM(x) __builtin_amdgcn_readfirstlane(x)
#endif
#endif
#ifndef UNIFORM
#define UNIFORM(x) (x)
#endif
