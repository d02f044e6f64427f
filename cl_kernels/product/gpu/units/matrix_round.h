// Rounds fp32 to the type of the matrix unit, to nearest. A word of local memory holds PER_WORD neighbours of the
// depth.
#include "common/inline.h"
#include "product/gpu/units/kinds.h"

#ifndef PRECISION
#define PRECISION PRECISION_FP16
#endif
#define PER_WORD (PRECISION == PRECISION_TF32 ? 1 : 2)

#if !defined(EMULATED) && (UNIT == UNIT_MMA_SM80 || UNIT == UNIT_MMA_SM75)
#if PRECISION == PRECISION_TF32
INLINE uint round_one(float x) {
  uint word;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return word;
}
#elif UNIT == UNIT_MMA_SM75
INLINE uint round_two(float low, float high) {
  uint word;
  __asm__("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
      : "=r"(word) : "f"(low), "f"(high));
  return word;
}
#else
INLINE uint round_two(float low, float high) {
  uint word;
#if PRECISION == PRECISION_FP16
  __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#endif
  return word;
}
#endif
#else
// Rounds with integer operations. Ties are rounded as by the instructions above: away from zero for tf32, to even for
// bf16. NaN stays NaN.
#if PRECISION == PRECISION_TF32
INLINE uint round_one(float x) {
  const uint bits = as_uint(x);
  return isnan(x) ? bits : (bits + 0x1000u) & ~0x1fffu;
}
#elif PRECISION == PRECISION_FP16
#if defined(cl_khr_fp16) && !defined(EMULATED)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
INLINE uint round_two(float low, float high) { return as_uint((half2)((half)low, (half)high)); }
#else
INLINE uint round_two(float low, float high) {
  ushort halves[2];
  vstore_half_rte(low, 0, (half*)halves);
  vstore_half_rte(high, 1, (half*)halves);
  return halves[0] | (uint)halves[1] << 16;
}
#endif
#else
// The result is the upper half of the word. The lower half holds bits that do not matter. Every NaN becomes the same
// NaN, because a longer expression for NaN would make compilers for AMD use a branch.
INLINE uint bf16_of(float x) {
  const uint bits = as_uint(x);
  return isnan(x) ? 0x7fc00000u : bits + 0x7fffu + (bits >> 16 & 1u);
}
INLINE uint round_two(float low, float high) { return as_uint((ushort2)(as_ushort2(bf16_of(low)).y, as_ushort2(bf16_of(high)).y)); }
#endif
#endif

// Makes a word from two neighbours of the depth. With tf32 the word holds only the first one.
INLINE uint round_word(float first, float second) {
#if PER_WORD == 2
  return round_two(first, second);
#else
  return round_one(first);
#endif
}
