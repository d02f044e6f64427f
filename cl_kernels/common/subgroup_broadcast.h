// SUBGROUP_BROADCAST(x): an integer that is the same for all items of a wave.
//
// AMD's GPUs have scalar registers for such integers. The address of a read is a scalar register plus an offset of the
// item. But a division is computed in vector registers. After a division, compilers do not know that its result is
// uniform. Everything computed from the result would stay in vector registers.
#if defined(__has_builtin) && defined(__AMDGCN__)
#if __has_builtin(__builtin_amdgcn_readfirstlane)
#define SUBGROUP_BROADCAST(x) __builtin_amdgcn_readfirstlane(x)
#endif
#endif
#ifndef SUBGROUP_BROADCAST
#define SUBGROUP_BROADCAST(x) (x)
#endif
