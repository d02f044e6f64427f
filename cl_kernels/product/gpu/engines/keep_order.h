// KEEP_ORDER: LLVM for AMD moves no instruction across this macro. Without the macro, LLVM first reads all fragments of
// a slice and runs out of registers. LLVM also starts reads from memory only after a multiplication, although they
// should run during the multiplication.
#if defined(__has_builtin) && defined(__AMDGCN__)
#if __has_builtin(__builtin_amdgcn_sched_barrier)
#define KEEP_ORDER __builtin_amdgcn_sched_barrier(0)
#endif
#endif
#ifndef KEEP_ORDER
#define KEEP_ORDER
#endif
