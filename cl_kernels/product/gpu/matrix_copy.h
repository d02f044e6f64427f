// Copies 16 bytes from global to local memory while the work-item does something else. Call copy_begin, then copy_end
// with the same arguments. NVIDIA GPUs from sm_80 on copy asynchronously. There COPIES_WAIT(COUNT) waits for all
// copies, except for those of the last COUNT calls of copies_set. On other devices the bytes wait in registers, and
// copy_end completes the copy.
#include "common/inline.h"
#include "product/gpu/units/kinds.h"

#if !defined(EMULATED) && UNIT == UNIT_MMA_SM80
typedef char Copy;  // Not used.
INLINE void copy_begin(Copy* copy, __local uint* to, __global const uint* from) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)(size_t)to), "l"(from) : "memory");
}
INLINE void copy_end(const Copy* copy, __local uint* to) {}
INLINE void copies_set(void) { __asm__ volatile("cp.async.commit_group;" ::: "memory"); }
#define COPIES_WAIT(COUNT) __asm__ volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory")
#else
typedef uint4 Copy;
INLINE void copy_begin(Copy* copy, __local uint* to, __global const uint* from) { *copy = *(__global const uint4*)from; }
INLINE void copy_end(const Copy* copy, __local uint* to) { *(__local uint4*)to = *copy; }
INLINE void copies_set(void) {}
#define COPIES_WAIT(COUNT)
#endif
