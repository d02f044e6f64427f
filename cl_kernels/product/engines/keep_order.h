// KEEP_ORDER: LLVM for AMD moves no instruction across it. Without it, LLVM first reads all fragments of a slice, until
// registers run out. It also starts reads from memory only after a multiplication, although they should be under way
// during it.
#if defined(__has_builtin) && defined(__AMDGCN__)
#if __has_builtin(__builtin_amdgcn_sched_barrier)
#define KEEP_ORDER __builtin_amdgcn_sched_barrier(0)
#endif
#endif
#ifndef KEEP_ORDER
#define KEEP_ORDER
#endif
