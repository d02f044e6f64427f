// Copies from global to local memory that go on while the work-item does, where a device has them (NVIDIA from sm_80 on), in
// 16 bytes; elsewhere they are done when copy_begin returns.
#include "common/inline.h"

#if !defined(EMULATED) && UNIT == 1
INLINE void copy_begin(__local uint* to, __global const uint* from) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)(size_t)to), "l"(from) : "memory");
}
// Those begun since the last call are a set.
INLINE void copies_set(void) { __asm__ volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all sets but the last `COUNT`, which is a constant.
#define COPIES_WAIT(COUNT) __asm__ volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory")
#else
INLINE void copy_begin(__local uint* to, __global const uint* from) {
  *(__local uint4*)to = *(__global const uint4*)from;
}
INLINE void copies_set(void) {}
#define COPIES_WAIT(COUNT)
#endif
