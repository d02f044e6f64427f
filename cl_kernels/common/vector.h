// floatv is the vector of VW floats that CPU kernels use. GPU kernels do not compute with floatv. But their epilogues
// call functions of vectors on the VEC_C results that are stored at once.
#include "common/fma.h"
#include "common/inline.h"

#ifndef VW
#if defined(VEC_C) && VEC_C > 1
#define VW VEC_C
#else
#define VW 16
#endif
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define floatv JOIN(float, VW)
#define intv JOIN(int, VW)
#define vloadv JOIN(vload, VW)
#define vstorev JOIN(vstore, VW)
#define convert_intv JOIN(convert_int, VW)
#define convert_floatv JOIN(convert_float, VW)
#define as_floatv JOIN(as_float, VW)
#define as_intv JOIN(as_int, VW)

// 0, 1, 2, … VW-1.
#if VW == 16
#define LANES ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#elif VW == 8
#define LANES ((int8)(0, 1, 2, 3, 4, 5, 6, 7))
#elif VW == 4
#define LANES ((int4)(0, 1, 2, 3))
#elif VW == 2
#define LANES ((int2)(0, 1))
#else
#error "VW must be 2, 4, 8 or 16"
#endif

// This macro comes before loops that compilers would unroll or vectorise without a gain. Such unrolling takes half of
// the time to compile a kernel.
#if defined(__clang__)
#define NO_UNROLL _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define NO_UNROLL
#endif

// This macro comes before loops over the lanes of a tail. A CPU's vector has many lanes, and tails are rare there. A
// GPU's vector has few lanes, and only unrolled loops keep them in registers.
#if VW >= 8
#define FEW_TIMES NO_UNROLL
#else
#define FEW_TIMES
#endif

// Accesses a vector in memory. For ALIGNED, p must be aligned to a vector, and for UNALIGNED to a float. PoCL splits
// vload16 and vstore16 into four parts if the value is not computed as floats.
#define ALIGNED(p) (*(__global floatv*)(p))
#define ALIGNED_CONST(p) (*(__global const floatv*)(p))
typedef floatv unaligned_floatv __attribute__((aligned(4)));
#define UNALIGNED(p) (*(__global unaligned_floatv*)(p))
#define UNALIGNED_CONST(p) (*(__global const unaligned_floatv*)(p))

// Starts a kernel that computes with vectors. The hint keeps Intel's CPU runtime from vectorising across work-items.
// Such vectorising has no use here and makes compiling two to five times as long.
#define VECTOR_KERNEL __kernel __attribute__((vec_type_hint(floatv)))

// Starts a VECTOR_KERNEL with work-groups of one work-item.
#define CPU_KERNEL VECTOR_KERNEL __attribute__((reqd_work_group_size(1, 1, 1)))
