// Work-items of a sub-group exchange numbers, without local memory and without a barrier.
//
//   SHUFFLE_LANES           how many items, neighbours along dimension 0, can exchange numbers; 1 where none can
//   SHUFFLE_XOR(type, v, mask)  the v (32 bits) of the item whose number is this item's number xor `mask`, a literal
//   below
//                        SHUFFLE_LANES
//   SHUFFLE_XOR_LONG(v, mask)   the same for 64 bits
//   GROUP_KERNEL(x, y)   starts a kernel with work-groups of x times y items; x is a multiple of SHUFFLE_LANES
//
// The host defines INTEL_SUBGROUPS if the device has cl_intel_subgroups and lets a kernel require a sub-group size of
// 16. It defines NVIDIA_SHUFFLES if a probe found that inline PTX works. On AMD the exchange stays within 32 items. So
// it works in sub-groups of 32 and of 64, and the compiler may choose either. Other devices use local memory, because
// cl_khr_subgroups needs OpenCL C 2.0 and programs are built as 1.2.
#ifdef INTEL_SUBGROUPS
#define SHUFFLE_LANES 16
#define SHUFFLE_XOR(type, v, mask) as_##type(intel_sub_group_shuffle_xor(as_uint(v), mask))
#define GROUP_KERNEL(x, y) \
  __kernel __attribute__((intel_reqd_sub_group_size(16))) __attribute__((reqd_work_group_size(x, y, 1)))
#elif defined(NVIDIA_SHUFFLES)
#define SHUFFLE_LANES 32
static inline uint shuffle_xor(const uint v, const uint mask) {
  uint other;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(v), "r"(mask));
  return other;
}
#define SHUFFLE_XOR(type, v, mask) as_##type(shuffle_xor(as_uint(v), mask))
#elif defined(__AMDGCN__) && defined(__has_builtin)
#if __has_builtin(__builtin_amdgcn_ds_swizzle)
#define SHUFFLE_LANES 32
// In its bit mode, ds_swizzle reads from the lane with number (own number & 31) ^ mask.
#define SHUFFLE_XOR(type, v, mask) as_##type(__builtin_amdgcn_ds_swizzle(as_int(v), (mask) << 10 | 0x1f))
#endif
#endif

#ifndef SHUFFLE_LANES
#define SHUFFLE_LANES 1
#define SHUFFLE_XOR(type, v, mask) (v)
#endif
#ifndef GROUP_KERNEL
#define GROUP_KERNEL(x, y) __kernel __attribute__((reqd_work_group_size(x, y, 1)))
#endif

#define SHUFFLE_XOR_LONG(v, mask) \
  as_long((int2)(SHUFFLE_XOR(int, as_int2((long)(v)).x, mask), SHUFFLE_XOR(int, as_int2((long)(v)).y, mask)))
