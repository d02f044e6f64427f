// KEEP_ORDER: LLVM for AMD moves no instruction past it. By itself it reads all fragments of a slice first, until registers run
// out, and what is to be on its way from memory during a multiplication only after it.
#if defined(__has_builtin) && defined(__AMDGCN__)
#if __has_builtin(__builtin_amdgcn_sched_barrier)
#define KEEP_ORDER __builtin_amdgcn_sched_barrier(0)
#endif
#endif
#ifndef KEEP_ORDER
#define KEEP_ORDER
#endif
